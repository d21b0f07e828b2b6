import { Worker } from 'node:worker_threads'

// A commit that finds 1,000 pages in the log copies them into the database file: a checkpoint. After a large transaction,
// that blocks the event loop for 100 ms and more. So a thread does it, with a connection of its own.

// As text, because the bundle and the executable have no file for a thread.
const source = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const database = new DatabaseSync(workerData)
  database.exec('PRAGMA synchronous = FULL')
  parentPort.on('message', () => {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    parentPort.postMessage(null)
  })`

export type Checkpoints = ReturnType<typeof createCheckpoints>

/** Copies pages from the log of a database into its file, in a thread that the first call starts. */
export function createCheckpoints(file: string) {
  let thread: Worker | undefined
  let done = () => {}

  function start(): Worker {
    const started = new Worker(source, { eval: true, workerData: file, execArgv: ['--no-warnings'] })
    started.on('message', () => {
      // An idle thread must not keep the process running.
      started.unref()
      done()
    })
    // After an error, the pages stay in the log, and a later commit copies them.
    started.on('error', () => {})
    started.on('exit', () => {
      thread = undefined
      done()
    })
    return started
  }

  return {
    /** Resolves when the thread has tried it. */
    run: () =>
      new Promise<void>((resolve) => {
        done = resolve
        try {
          thread ??= start()
          thread.ref()
          thread.postMessage(null)
        } catch {
          // The system has no thread to give. The pages stay in the log, and a later commit copies them.
          resolve()
        }
      }),
    close: async () => void (await thread?.terminate()),
  }
}
