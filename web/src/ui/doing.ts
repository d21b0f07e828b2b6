import { useState } from 'react'

/** The work of a button: whether it runs, and why it failed. */
export function useDoing() {
  const [doing, setDoing] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  async function run(work: () => Promise<unknown>, failed: (error: unknown) => void = setProblem) {
    setDoing(true)
    setProblem(null)
    try {
      await work()
    } catch (error) {
      failed(error)
    } finally {
      setDoing(false)
    }
  }
  return { doing, problem, setProblem, run }
}
