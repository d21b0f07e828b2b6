import assert from 'node:assert/strict'
import type { Clock } from '../src/clock.ts'
import { type Config, readConfig } from '../src/config.ts'
import type { Db } from '../src/db/db.ts'
import type { Seal } from '../src/db/seal.ts'
import { jobs } from '../src/jobs/jobs.ts'
import { startJobs, type Timing } from '../src/jobs/run.ts'

type Around = Partial<Config> & {
  db: Db
  clock: Clock
  seal: Seal
  /** Whether removal is held. */
  held?: boolean
  mayRemove?: () => Promise<boolean>
}

/** Runs some of the service's jobs on a database, with another timing than their own. */
export function runJobs(names: string[], timing: Timing, { db, seal, held = false, ...around }: Around) {
  const errors: unknown[] = []
  const nothing = async () => {}
  const clock = {
    now: around.clock.now,
    elapsed: around.clock.elapsed,
    mayRemove: around.mayRemove ?? (async () => !held),
    removal: () => ({ held, put_off: 0 }),
    look: nothing,
    confirm: nothing,
    waiting: () => null,
  }
  const config = { ...readConfig({}), ...around }
  const chosen = jobs({
    db,
    clock,
    durability: { look: nothing },
    seal,
    lookAtZones: nothing,
    readableKinds: () => null,
    mailer: null,
    poller: { pollDue: nothing, pollNow: nothing },
    config,
  })
    .filter(({ name }) => names.includes(name))
    .map((job) => ({ ...job, ...timing }))
  assert.equal(chosen.length, names.length)
  const onError = (error: unknown) => errors.push(error)
  return { errors, stop: startJobs(chosen, { clock, onCommit: () => {}, onError }) }
}
