import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { default_cost } from '../src/access/people/passwords.ts'
import { readConfig } from '../src/config.ts'
import type { Waits } from '../src/db/locks.ts'
import type { GivenClock } from '../src/db/service-clock.ts'
import type { RedisLimits } from '../src/http/shared-rate-limit.ts'
import type { Timing } from '../src/jobs/run.ts'
import { type ProcessRole, startServer } from '../src/server.ts'
import { folderFiles } from '../src/web/files.ts'
import { patient, removeScratch, settingsOf, small_pool, spareMigration } from './engine.ts'
import { countAnswer } from './faults/report.ts'
import { sendRequest } from './http/request.ts'
import { use } from './use.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
export type Reply<T = any> = { status: number; headers: Headers; body: T; text: string }

/** The cost of a hash that protects nobody. passwords.test.ts, in a process of its own, tests the real one. */
const cheap = { memory: 8, passes: 1, parallelism: 1 }
const password_cost = { ...cheap }

/** Hashes passwords in the services of this process with the real cost, until the work has ended. */
export async function withRealHashes(work: () => Promise<void>): Promise<void> {
  Object.assign(password_cost, default_cost)
  await work().finally(() => Object.assign(password_cost, cheap))
}

/** A clock that stands still until time passes, or until somebody sets it. */
export function turnableClock(start = Date.parse('2026-11-21T08:30:00.000Z')) {
  let elapsed = start
  let set_ms = 0
  return {
    now: () => elapsed + set_ms,
    elapsed: () => elapsed,
    /** Time passes. */
    advance(ms: number) {
      elapsed += ms
    },
    /** Somebody sets the clock: no time passes. */
    set(ms: number) {
      set_ms += ms
    },
  }
}

/** Calls an API over real HTTP; a body that is a string is sent as it is. */
export function client(url: string, key: string | null) {
  return async function call(
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Reply> {
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const { status, headers, text } = await sendRequest(
      url + path,
      method,
      {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...more,
      },
      sent,
    )
    countAnswer(status, headers)
    const json = headers.get('content-type')?.includes('/json')
    return { status, headers, text, body: json && text ? JSON.parse(text) : text }
  }
}

type Options = {
  clock?: GivenClock
  removal?: Timing
  waits?: Waits
  last_step_ms?: number
  redis_limits_ms?: RedisLimits
  roles?: ProcessRole[]
  env?: Record<string, string>
  data_dir?: string
  web_folder?: string
}

/**
 * Starts the whole service on a scratch folder and a free port, as `npm start` does, without rate limits; without the web
 * app too, unless its folder is given.
 */
export async function startRapport({
  clock,
  removal,
  waits = patient,
  last_step_ms,
  redis_limits_ms,
  roles,
  env = {},
  data_dir,
  web_folder,
}: Options = {}) {
  const folder = data_dir ?? mkdtempSync(join(tmpdir(), 'rapport-test-'))
  if (!data_dir) await spareMigration(folder)
  const config = readConfig({
    PORT: '0',
    ...(await settingsOf(folder)),
    ...small_pool,
    RATE_LIMIT_PER_SECOND: '0',
    BOOKING_RATE_PER_SECOND: '0',
    OPEN_RATE_PER_SECOND: '0',
    LOG_LEVEL: 'silent',
    ...env,
  })
  const running = await startServer(config, {
    password_cost,
    waits,
    ...(clock && { clock }),
    ...(removal && { removal }),
    ...(last_step_ms !== undefined && { last_step_ms }),
    ...(redis_limits_ms && { redis_limits_ms }),
    ...(roles && { roles }),
    web_files: web_folder ? folderFiles(web_folder) : null,
  })
  const key = running.first_key ?? ''
  return {
    ...running,
    key,
    data_dir: folder,
    call: client(running.url, key),
    /** Stops the service; the scratch folder goes unless the caller gave it. */
    async close() {
      await running.stop()
      if (!data_dir) await removeScratch(folder)
    },
  }
}
export type Rapport = Awaited<ReturnType<typeof startRapport>>

/** Calls a service that the tests of a file share, with its first key. */
export const callOf =
  (rapport: Rapport): Rapport['call'] =>
  (...given) =>
    rapport.call(...given)

/** A service that the tests of a file share. */
export const useRapport = (options?: Options): Rapport => use(() => startRapport(options))
