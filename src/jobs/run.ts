import type { CommitTopic } from '../db/commit-topics.ts'
import type { Database } from '../db/db.ts'
import type { ServiceClock } from '../db/service-clock.ts'

/** When a job runs: after the start, and from then on. */
export type Timing = { first_ms: number; every_ms: number }

/** Work that runs by the clock, never twice at once in a process. */
export type Job = Timing & {
  name: string
  /** Only in processes with this role. */
  role?: 'dispatcher'
  /** Removal is held while the wall clock may be wrong. The job waits for the end of that time, or runs only then. */
  held?: 'waits' | 'runs'
  /** A commit with this topic also runs the job. */
  wake?: CommitTopic
  /** Ends early, by throwing or not, when its signal is aborted. A job that failed runs again at its next time. */
  run(stopping: AbortSignal): Promise<void>
}

type Deps = {
  clock: Pick<ServiceClock, 'mayRemove' | 'removal'>
  onCommit: Database['onCommit']
  onError: (error: unknown, job: string) => void
}

// A job that waits checks again after this time, so an administrator's confirmation takes effect within 10 s.
const ask_again_ms = 10_000

/** Starts the jobs; returns the function that stops them, which resolves when all have ended. */
export function startJobs(jobs: readonly Job[], deps: Deps): () => Promise<void> {
  const stops = jobs.map((job) => startJob(job, deps))
  return async () => void (await Promise.all(stops.map((stop) => stop())))
}

function startJob(job: Job, { clock, onCommit, onError }: Deps): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<void> | null = null
  let again: NodeJS.Timeout | undefined
  async function runWhenAllowed(): Promise<void> {
    clearTimeout(again)
    if (job.held === 'runs' && !clock.removal().held) return
    if (job.held !== 'waits' || (await clock.mayRemove())) return job.run(signal)
    if (!signal.aborted) again = setTimeout(run, Math.min(ask_again_ms, job.every_ms)).unref()
  }
  function run(): void {
    if (signal.aborted) return
    running ??= runWhenAllowed()
      .catch((error) => {
        if (!signal.aborted) onError(error, job.name)
      })
      .finally(() => {
        running = null
      })
  }
  const first = setTimeout(run, job.first_ms).unref()
  const timer = setInterval(run, job.every_ms).unref()
  if (job.wake) onCommit(job.wake, run)
  return async () => {
    clearTimeout(first)
    clearInterval(timer)
    stopping.abort()
    await running
    clearTimeout(again)
  }
}
