import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOf } from '../engine.ts'
import { dataOf, refused } from '../envelope.ts'
import { startRapport } from '../harness.ts'
import { importFile } from '../imports.ts'
import { scratchFolder } from '../process.ts'
import { until } from '../webhooks.ts'
import { startProxy } from './proxy.ts'

test('a request in steps whose database goes away in between frees its key when the database is back', async (t) => {
  const data_dir = scratchFolder(t)
  const { DATABASE_URL = '' } = await settingsOf(data_dir)
  const proxy = await startProxy(t, DATABASE_URL)
  const rapport = await startRapport({ data_dir, env: { DATABASE_URL: proxy.url }, waits: {} })
  t.after(rapport.stop)
  const { call } = rapport
  const rows = 2000
  const file = `name\n${Array.from({ length: rows }, (_, n) => `Row ${n}`).join('\n')}\n`
  const { id } = await importFile(rapport, { resource: 'companies' }, file)
  const undo = () => call('POST', `/api/v1/imports/${id}/undo`, {}, { 'idempotency-key': 'away' })
  const first = undo()
  await until(
    () => call('GET', '/api/v1/companies?per_page=1'),
    ({ body }) => body.meta.total < rows,
  )
  proxy.onArrival((near) => {
    near.destroy()
    return new Promise(() => {})
  })
  proxy.drop()
  refused(await first, 503, 'unavailable')
  proxy.onArrival(async () => {})
  const again = await until(undo, ({ status }) => status !== 503 && status !== 409, 60_000)
  assert.deepEqual(dataOf(again), { restored: rows, left: [] })
})
