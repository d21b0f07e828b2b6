import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStored } from '../../../test/database.ts'
import { dataOf, refused } from '../../../test/envelope.ts'
import { startRapport, turnableClock } from '../../../test/harness.ts'
import { importFile } from '../../../test/imports.ts'
import { until } from '../../../test/webhooks.ts'
import { day_ms } from '../../clock.ts'

test('what the undo of a merge or an import needs is kept until it is too late for the undo, whatever else is removed', async (t) => {
  const clock = turnableClock()
  const env = { TRASH_DAYS: '2', AUDIT_LOG_DAYS: '1', DELIVERY_LOG_DAYS: '1' }
  const rapport = await startRapport({ clock, env, removal: { first_ms: 10, every_ms: 20 } })
  t.after(rapport.close)
  const send = (method: string, path: string, body?: object) => rapport.call(method, `/api/v1/${path}`, body)
  const data = async (method: string, path: string, body?: object) => dataOf(await send(method, path, body))
  const make = async (name: string) => {
    const contact = { first_name: 'Ana', last_name: name }
    const { id } = await data('POST', 'contacts', contact)
    const other = await data('POST', 'contacts', { ...contact, phone: '1' })
    const merged = await send('POST', `contacts/${id}/merge`, { from_ids: [other.id] })
    const company = await data('POST', 'companies', { name })
    const file = `name,address\n${name},Here\n${name} made,There\n`
    const done = await importFile(rapport, { resource: 'companies', on_match: 'update', match: 'name' }, file)
    assert.deepEqual([done.created, done.updated], [1, 1])
    return { id, other, company, merge: merged.body.meta.merge_id, import: done.id }
  }
  const early = await make('Early')
  clock.advance(1000)
  const last = await make('Last')
  for (let halves = 1; halves < 4; halves++) clock.advance(day_ms / 2)
  clock.advance(day_ms / 2 - 500)

  const stored = await readStored(rapport.data_dir)
  t.after(stored.close)
  const count = async (rows: string) => Number((await stored.rows(`SELECT count(*) AS n FROM ${rows}`))[0]?.n)
  const kept = ['imports', 'merges WHERE changes IS NOT NULL', 'contacts']
  const gone = ["audit_log WHERE kind = 'companies'", 'events']
  const left = async () => {
    const counts: number[] = []
    for (const rows of [...kept, ...gone]) counts.push(await count(rows))
    return counts
  }
  await until(left, (counts) => counts.join() === '1,1,3,0,0')
  refused(await send('POST', `merges/${early.merge}/undo`), 409, 'conflict')
  refused(await send('POST', `imports/${early.import}/undo`), 404, 'not_found')
  assert.deepEqual(await data('POST', `merges/${last.merge}/undo`), { restored: 2, left: [] })
  assert.deepEqual(await data('POST', `imports/${last.import}/undo`), { restored: 2, left: [] })
  assert.equal((await data('GET', `contacts/${last.id}`)).phone, null)
  assert.equal((await data('GET', `contacts/${last.other.id}`)).phone, '1')
  assert.equal((await data('GET', `companies/${last.company.id}`)).address, null)
})
