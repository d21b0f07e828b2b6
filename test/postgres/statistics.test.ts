import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStored } from '../database.ts'
import { startRapport } from '../harness.ts'
import { until } from '../webhooks.ts'

test('a table that grows quickly gets statistics, and one that does not is left alone', async (t) => {
  const service = await startRapport()
  t.after(() => service.close())
  const stored = await readStored(service.data_dir)
  t.after(() => stored.close())
  const rowsOf = async (table: string) => {
    const [found] = await stored.rows('SELECT reltuples FROM pg_class WHERE relname = ?', table)
    return Number(found?.reltuples)
  }
  const fill = async (table: string, count: number) => {
    const record = table === 'contacts' ? { first_name: 'Ana', last_name: 'Ruiz' } : { name: 'Acme' }
    const items = Array.from({ length: count }, () => ({ op: 'create', data: record }))
    const reply = await service.call('POST', `/api/v1/${table}/batch`, { items })
    assert.equal(reply.status, 200, reply.text)
  }
  await fill('companies', 100)
  await fill('contacts', 600)
  for (const table of ['contacts', 'events'])
    await until(
      () => rowsOf(table),
      (rows) => rows >= 600,
    )
  assert.ok((await rowsOf('companies')) <= 0)

  for (let n = 0; n < 2; n++) await fill('contacts', 1000)
  await until(() => rowsOf('contacts'), 2600)
})
