import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { check } from './history/check/check.ts'
import { doctorings } from './history/doctor.ts'
import type { History } from './history/history.ts'
import { play } from './history/play.ts'
import { createSetting } from './history/setting.ts'
import { tell } from './history/tell.ts'

let setting: Awaited<ReturnType<typeof createSetting>>
let history: History
before(async () => {
  setting = await createSetting()
  history = await play({ seed: 11, kills: 5, least: 400, life_ms: 500, pause_ms: 15, ...setting.wishes })
})
after(() => setting.close())

test('five kills among random operations, with restarts and clock jumps: every promise holds in the history', (t) => {
  const { violations, figures } = tell(history, 3)
  t.diagnostic(figures)
  assert.deepEqual(violations, [])
})

for (const { what, rule, falsify } of doctorings)
  test(`the checker notices when ${what}`, () => {
    const doctored = structuredClone(history)
    falsify(doctored)
    const noticed = check(doctored).map((one) => one.rule)
    assert.ok(noticed.includes(rule), `${rule} is not among ${[...new Set(noticed)]}`)
  })

test('the checker reads nothing of the service', () => {
  const folder = new URL('history/check/', import.meta.url)
  for (const file of globSync('*.ts', { cwd: folder }))
    for (const [, from = ''] of readFileSync(new URL(file, folder), 'utf8').matchAll(/from '([^']+)'/g))
      assert.match(from, /^(\.\/[a-z]+\.ts|\.\.\/history\.ts|node:(crypto|util))$/, file)
})
