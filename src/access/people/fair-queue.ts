import { unavailable } from '../../errors.ts'

type Waiter = { start: () => void; refuse: (error: Error) => void }

/**
 * Runs at most `max_running` tasks at once; at most `max_waiting` others wait. Keys, such as addresses, take turns, so a
 * caller with many tasks waits for its own ones. When the queue is full, the key with the most tasks loses its newest one.
 * Throws 503 for a refused task.
 */
export function createFairQueue(max_running: number, max_waiting: number) {
  // A key moves to the end after its turn, so the first key waits longest.
  const queues = new Map<string, Waiter[]>()
  let busy = 0
  let waiting = 0
  let started = 0

  function longest(): [string, Waiter[]] {
    const all = [...queues]
    return all.reduce((most, queue) => (queue[1].length > most[1].length ? queue : most), all[0] ?? ['', []])
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
    if (waiting >= max_waiting) makeRoom(key)
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
    // `busy` stays: the next task replaces this one.
    waiter?.start()
  }

  return {
    busy: () => busy,
    started: () => started,
    async run<T>(key: string, task: () => Promise<T>): Promise<T> {
      if (busy < max_running) busy++
      else await enqueue(key)
      started++
      try {
        return await task()
      } finally {
        leave()
      }
    },
  }
}
