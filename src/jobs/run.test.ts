// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/webhooks.ts'
import { type Job, startJobs } from './run.ts'

const rest_of_day_ms = 24 * 3600 * 1000

function around() {
  const errors: [string, unknown][] = []
  const listeners: (() => void)[] = []
  const clock = { held: false, asked: 0 }
  const deps = {
    clock: {
      async mayRemove() {
        clock.asked++
        return !clock.held
      },
      removal: () => ({ held: clock.held, put_off: 0 }),
    },
    onCommit: (_: string, listener: () => void) => void listeners.push(listener),
    onError: (error: unknown, job: string) => errors.push([job, error]),
  }
  return { deps, errors, clock, commit: () => listeners.forEach((listener) => void listener()) }
}

const counted = (job: Partial<Job>) => {
  let runs = 0
  const run = async (stopping: AbortSignal) => {
    runs++
    await job.run?.(stopping)
  }
  return { job: { name: 'a job', first_ms: 1, every_ms: 5, ...job, run }, runs: async () => runs }
}

test('a job that fails is reported by its name, and runs again at its next time', async () => {
  const { deps, errors } = around()
  const trouble = new Error('The database is away')
  const failing = counted({ run: () => Promise.reject(trouble) })
  const other = counted({ name: 'another' })
  const stop = startJobs([failing.job, other.job], deps)
  await until(failing.runs, (runs) => runs >= 3)
  await until(other.runs, (runs) => runs >= 3)
  await stop()
  assert.deepEqual(errors.slice(0, 2), [
    ['a job', trouble],
    ['a job', trouble],
  ])
  assert.ok(errors.every(([name]) => name === 'a job'))
})

test('a job never runs twice at once, and a stop waits for its end', async () => {
  const { deps, errors, commit } = around()
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  let aborted: () => boolean = () => false
  const long = counted({
    wake: 'backlog',
    async run(stopping) {
      aborted = () => stopping.aborted
      await held
      stopping.throwIfAborted()
    },
  })
  const stop = startJobs([long.job], deps)
  await until(long.runs, (runs) => runs > 0)
  commit()
  await pause(30)
  let over = false
  const stopped = stop().then(() => {
    over = true
  })
  await pause(10)
  assert.deepEqual([over, aborted()], [false, true])
  goOn()
  await stopped
  commit()
  await pause(20)
  assert.equal(await long.runs(), 1)
  assert.deepEqual(errors, [])
})

test('a commit with its news runs a job before its next time', async () => {
  const { deps, commit } = around()
  const woken = counted({ first_ms: rest_of_day_ms, every_ms: rest_of_day_ms, wake: 'backlog' })
  const stop = startJobs([woken.job], deps)
  commit()
  await until(woken.runs, 1)
  await stop()
})

test('while removal is held, a job that removes waits and asks again, and its stand-in runs', async () => {
  const { deps, clock } = around()
  const removal = counted({ held: 'waits' })
  const completion = counted({ held: 'runs' })
  clock.held = true
  const stop = startJobs([removal.job, completion.job], deps)
  await until(completion.runs, (runs) => runs >= 2)
  await until(
    async () => clock.asked,
    (asked) => asked >= 2,
  )
  assert.equal(await removal.runs(), 0)
  clock.held = false
  await until(removal.runs, (runs) => runs > 0)
  const completed = await completion.runs()
  await pause(20)
  assert.ok((await completion.runs()) <= completed + 1)
  await stop()
})
