// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type Outbox, openOutbox } from '../../test/outbox.ts'
import { transaction } from '../db/db.ts'
import { addWork } from '../db/work.ts'
import { ApiError } from '../errors.ts'
import { finishWork, lease_ms, type Progress, runWork, type Work, type WorkSteps } from './run.ts'

let outbox: Outbox
let steps: string[]
beforeEach(async () => {
  outbox = await openOutbox()
  steps = []
})
afterEach(() => outbox.close())

const never = new AbortController().signal
const leave = (subject: string, position: unknown = 0, leased_ms = 0) =>
  transaction(outbox.db, async (tx) =>
    addWork(tx, outbox.context(), { kind: 'backfill', subject, position, lease_ms: leased_ms }),
  )
const rows = () => outbox.db.selectFrom('work').selectAll().orderBy('id').execute()

/** Work whose steps are recorded, with their position. */
const stepsOf = (step: (work: Work<number>) => Progress<number>): WorkSteps<number> => ({
  kind: 'backfill',
  async step(_tx, work) {
    steps.push(`${work.subject} ${work.position}`)
    return step(work)
  },
})
const upTo = (last: number) =>
  stepsOf(({ position }) => (position === last ? 'done' : { position: position + 1 }))
const run = (kind: WorkSteps<number>, stopping = never) => runWork(outbox, kind, stopping)

test('work is done step by step, and each step begins where the last one ended', async () => {
  await leave('wh_1')
  await run(upTo(2))
  assert.deepEqual([steps, await rows()], [['wh_1 0', 'wh_1 1', 'wh_1 2'], []])
})

test('concurrent runners do each step once', async () => {
  for (let n = 0; n < 5; n++) await leave(`wh_${n}`)
  await Promise.all([1, 2, 3].map(() => run(upTo(3))))
  assert.deepEqual([steps.length, new Set(steps).size, await rows()], [20, 20, []])
})

test('work that fails has its error, holds up no other work, and is tried again later', async () => {
  await leave('wh_1')
  await leave('wh_2')
  let is_broken = true
  const kind = stepsOf(({ subject }) => {
    if (is_broken && subject === 'wh_1') throw new Error('The secret of the database.')
    return 'done'
  })
  await assert.rejects(run(kind), /The secret/)
  const [left, ...others] = await rows()
  assert.deepEqual([left?.subject, left?.attempts, left?.last_error], ['wh_1', 1, 'internal_error'])
  assert.deepEqual(others, [])
  await run(kind)
  assert.deepEqual(steps, ['wh_1 0', 'wh_2 0'])
  is_broken = false
  outbox.clock.advance(2000)
  await run(kind)
  assert.deepEqual(await rows(), [])
})

test('the error of a step is thrown within seconds, also while there is other work', async () => {
  await leave('wh_1')
  await leave('wh_2')
  const kind = stepsOf(({ subject, position }) => {
    if (subject === 'wh_1') throw new Error('Broken.')
    return { position: position + 1 }
  })
  await assert.rejects(run(kind), /Broken/)
})

test('a step is repeated 50 ms after one that could do nothing, or waits for 1 s', async () => {
  await leave('wh_1')
  await leave('wh_2')
  const kind = stepsOf(({ subject }) => {
    if (subject === 'wh_2') return 'later'
    return steps.filter((step) => step.startsWith('wh_1')).length < 3 ? 'busy' : 'done'
  })
  await run(kind)
  assert.deepEqual(steps.toSorted(), ['wh_1 0', 'wh_1 0', 'wh_1 0', 'wh_2 0'])
  assert.equal((await rows()).length, 1)
})

test('work that waits for long goes on while other work keeps the runner busy', async () => {
  await leave('wh_1')
  await leave('wh_2')
  const times = (subject: string) => steps.filter((step) => step.startsWith(subject)).length
  const kind = stepsOf(({ subject }) => {
    if (subject === 'wh_2') return times('wh_2') === 1 ? 'later' : 'done'
    return times('wh_2') < 2 ? 'busy' : 'done'
  })
  await run(kind)
  assert.deepEqual(await rows(), [])
})

test('a stop ends the runner between two steps', async () => {
  await leave('wh_1')
  const stopping = new AbortController()
  const kind = stepsOf(({ position }) => {
    if (position === 1) stopping.abort()
    return { position: position + 1 }
  })
  await run(kind, stopping.signal)
  const [left] = await rows()
  assert.equal(left?.position, '2')
})

test('work that a request does is taken over when its lease has ended', async () => {
  await leave('wh_1', 0, lease_ms)
  await run(upTo(0))
  assert.deepEqual(steps, [])
  outbox.clock.advance(lease_ms)
  await run(upTo(0))
  assert.deepEqual([steps, await rows()], [['wh_1 0'], []])
})

test('a request does its work to the end, and gets the error of a step, which is rolled back', async () => {
  const subject = { workspace_id: outbox.workspace_id, subject: 'wh_1' }
  await leave('wh_1', 0, lease_ms)
  const failing = stepsOf(({ position }) => {
    if (position === 2) throw new ApiError('conflict', 'Not this.')
    return { position: position + 1 }
  })
  await assert.rejects(finishWork(outbox, failing, subject, never), /Not this/)
  assert.deepEqual(
    (await rows()).map(({ position, attempts }) => [position, attempts]),
    [['2', 0]],
  )
  await finishWork(outbox, upTo(3), subject, never)
  assert.deepEqual(await rows(), [])
  await finishWork(outbox, upTo(3), subject, never)
})

test('after a refusal, the work goes on from where it was before the step', async () => {
  await leave('wh_1', 7)
  const kind: WorkSteps<number> = {
    ...stepsOf(() => {
      throw new ApiError('conflict', 'Refused.')
    }),
    refused: async (_tx, { position }, error) => {
      steps.push(`${position} ${error.message}`)
      return 'done'
    },
  }
  await run(kind)
  assert.deepEqual([steps, await rows()], [['wh_1 7', '7 Refused.'], []])
})

test('work whose refusal fails, too, holds up no other work', async () => {
  await leave('wh_1')
  await leave('wh_2')
  const kind: WorkSteps<number> = {
    ...stepsOf(({ subject }) => {
      if (subject === 'wh_1') throw new ApiError('conflict', 'Refused.')
      return 'done'
    }),
    refused: (_tx, _work, error) => Promise.reject(error),
  }
  await assert.rejects(run(kind), /Refused/)
  assert.deepEqual(
    (await rows()).map(({ subject, last_error }) => [subject, last_error]),
    [['wh_1', 'conflict: Refused.']],
  )
})

test('many that can do nothing keep no other from its turn', async () => {
  for (let n = 0; n < 10; n++) await leave(`wh_${n}`)
  await leave('wh_ready')
  const kind = stepsOf(({ subject }) => {
    if (subject === 'wh_ready') return 'done'
    return steps.includes('wh_ready 0') ? 'done' : 'busy'
  })
  await run(kind)
  assert.deepEqual(await rows(), [])
})
