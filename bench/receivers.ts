import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

type Report = {
  requests: number
  distinct: number
  bad_signatures: number
  /** Of each delivery, from the time of its event to the receipt. */
  delays_ms: number[]
  /** When the last one came. */
  last_ms: number
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Starts a webhook receiver in its own process. */
export async function startReceiver() {
  const child = fork(new URL('./receiver.ts', import.meta.url), { stdio: 'inherit' })
  const ask = async <T>(question: string | null): Promise<T> => {
    child.send(question as string)
    return (await once(child, 'message'))[0]
  }
  const [{ port }] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${port}/hook`,
    /** The requests since the last report, whose signatures are verified. */
    report: (secret: string): Promise<Report> => ask(secret),
    /** Waits until this many requests came since the last report. */
    async received(count: number): Promise<void> {
      while ((await ask<{ requests: number }>(null)).requests < count) await pause(10)
    },
    close: () => child.disconnect(),
  }
}
