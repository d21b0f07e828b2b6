import { Worker } from 'node:worker_threads'
import type { BusyTimes, ReadOptions } from './read.ts'
import { threadCode } from './thread-code.ts'

type ThreadOptions = Omit<ReadOptions, 'ianaOf'>
export type ThreadData = ThreadOptions & { text: string; zone_folder: string }
export type Reading = { times: BusyTimes } | { refused: 'invalid_calendar' | 'too_large' | 'timeout' }

// Beyond these, a file is hostile. 20,000 events, of which a tenth repeats each week, take 2 s of a core.
const most_ms = 20_000
const most_mb = 192

/**
 * Reads the busy times of a calendar file in a thread of its own, which ends after 20 s or 192 MiB at the latest. `stopping`
 * ends it, as the time does.
 */
export async function readCalendar(data: ThreadData, stopping: AbortSignal): Promise<Reading> {
  const code = await threadCode()
  return new Promise((resolve, reject) => {
    const thread = new Worker(code, {
      eval: true,
      workerData: data,
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: most_mb },
    })
    const end = (settle: () => void) => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', stop)
      settle()
      void thread.terminate()
    }
    const stop = () => end(() => resolve({ refused: 'timeout' }))
    const timer = setTimeout(stop, most_ms)
    stopping.addEventListener('abort', stop)
    if (stopping.aborted) stop()
    thread.once('message', (reading: Reading) => end(() => resolve(reading)))
    thread.once('error', (error: NodeJS.ErrnoException) =>
      end(() =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ refused: 'too_large' }) : reject(error),
      ),
    )
    thread.once('exit', () => end(() => reject(new Error('The thread ended without an answer.'))))
  })
}
