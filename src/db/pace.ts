import { setImmediate as others } from 'node:timers/promises'

const max_turn_ms = 10

/**
 * Returns a function to call between two pieces of work outside of a transaction. It yields to the event loop if the pieces
 * since the last yield took longer than 10 ms.
 */
export function createPace(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < max_turn_ms) return
    await others()
    began = performance.now()
  }
}
