import { useSyncExternalStore } from 'react'
import type { Choice, Conflict } from '../../api/change-since.ts'

/** A conflict that waits for the choice of the person. */
export type Question = Conflict & { answer: (choice: Choice) => void }

let questions: readonly Question[] = []
const listeners = new Set<() => void>()
function set(next: readonly Question[]) {
  questions = next
  for (const listener of listeners) listener()
}

/** Asks the person which values stay, after earlier questions. */
export const askWhose = (conflict: Conflict): Promise<Choice> =>
  new Promise((resolve) => {
    const question = {
      ...conflict,
      answer(choice: Choice) {
        set(questions.filter((one) => one !== question))
        resolve(choice)
      },
    }
    set([...questions, question])
  })

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The conflict to ask about now. */
export const useQuestion = (): Question | undefined => useSyncExternalStore(subscribe, () => questions[0])
