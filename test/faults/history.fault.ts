import assert from 'node:assert/strict'
import { test } from 'node:test'
import { play } from './history/play.ts'
import { createSetting } from './history/setting.ts'
import { tell } from './history/tell.ts'

// The same history as in history.test.ts, but as long as is asked for: npm run faults -- history --kills 200
const { HISTORY_KILLS = '20', HISTORY_SEED = '1', HISTORY_OPERATIONS } = process.env

test('kills among random operations, with restarts and clock jumps: every promise holds in the history', async (t) => {
  const setting = await createSetting()
  t.after(setting.close)
  const history = await play({
    seed: Number(HISTORY_SEED),
    kills: Number(HISTORY_KILLS),
    ...(HISTORY_OPERATIONS && { operations: Number(HISTORY_OPERATIONS) }),
    ...setting.wishes,
  })
  const { violations, figures } = tell(history, 'history')
  t.diagnostic(`seed ${HISTORY_SEED}: ${figures}`)
  assert.deepEqual(violations, [])
})
