import { unavailable } from '../../http/errors.ts'

type Waiter = { start: () => void; refuse: (error: Error) => void }

/**
 * Does at most `at_once` works at once; up to `most_waiting` others wait. Callers take turns by their key, such as an
 * address: who sends many waits for the own ones. When the queue is full, the longest queue of a key loses its newest
 * work, so that many of one caller cannot keep out another one. 503 for a work that is refused.
 */
export function createTurns(at_once: number, most_waiting: number) {
  // A key goes to the end when its turn has come, so the first key is the one that waits longest.
  const queues = new Map<string, Waiter[]>()
  let busy = 0
  let waiting = 0
  let taken = 0

  function longest(): [string, Waiter[]] {
    const all = [...queues]
    return all.reduce((most, one) => (one[1].length > most[1].length ? one : most), all[0] ?? ['', []])
  }

  function makeRoom(key: string): void {
    const refused = () => unavailable('Too many people sign in at once. Try again.')
    const [other, queue] = longest()
    if (queue.length <= (queues.get(key)?.length ?? 0) + 1) throw refused()
    queue.pop()?.refuse(refused())
    if (!queue.length) queues.delete(other)
    waiting--
  }

  function enqueue(key: string): Promise<void> {
    if (waiting >= most_waiting) makeRoom(key)
    waiting++
    return new Promise<void>((start, refuse) => {
      const queue = queues.get(key) ?? []
      queue.push({ start, refuse })
      queues.set(key, queue)
    })
  }

  function leave(): void {
    const [next] = queues
    if (!next) {
      busy--
      return
    }
    const [key, queue] = next
    const waiter = queue.shift()
    queues.delete(key)
    if (queue.length) queues.set(key, queue)
    waiting--
    // The next one takes over the place of this one.
    waiter?.start()
  }

  return {
    busy: () => busy,
    /** How many works have begun so far. */
    taken: () => taken,
    async take<T>(key: string, work: () => Promise<T>): Promise<T> {
      if (busy < at_once) busy++
      else await enqueue(key)
      taken++
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
