import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSeed } from '../../../test/backlog.ts'
import { readStored } from '../../../test/database.ts'
import { engine, removeScratch } from '../../../test/engine.ts'
import { client, startRapport } from '../../../test/harness.ts'
import { seedHistory } from '../../../test/person.ts'
import { scratchFolder } from '../../../test/process.ts'
import { measureStatements } from '../../../test/statements.ts'

test('the erasure of a person with a long history holds nobody up, and leaves nothing of the person', async (t) => {
  const data_dir = scratchFolder(t)
  const first = await startRapport({ data_dir })
  const { body } = await first.call('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: 'Lovelace' })
  const contact_id: number = body.data.id
  await first.close()
  const seed = await openSeed(data_dir)
  await seedHistory(seed, { contact_id, deals: 1000, events: 3000, bytes: 2000, webhook_id: 'wh_gone' })
  await seed.close()
  const rapport = await startRapport({ data_dir, roles: ['api'] })
  t.after(async () => {
    await rapport.close()
    await removeScratch(data_dir)
  })
  const call = client(rapport.url, first.key)
  assert.equal((await call('DELETE', `/api/v1/contacts/${contact_id}`)).status, 200)

  const measured = await measureStatements(async () => {
    assert.equal((await call('DELETE', `/api/v1/trash/contacts/${contact_id}`)).status, 200)
  })

  if (engine === 'sqlite') {
    assert.ok(measured.slowest.cpu_ms < 50, JSON.stringify(measured))
    assert.ok(measured.longest_turn_ms < 100, JSON.stringify(measured))
  }
  const stored = await readStored(data_dir)
  for (const [table, columns] of [
    ['events', ['payload']],
    ['audit_log', ['before', 'after']],
    ['webhook_attempts', ['response_body']],
  ] as const)
    for (const column of columns) {
      const [row] = await stored.rows(
        `SELECT count(*) AS n FROM ${table} WHERE "${column}" LIKE '%Lovelace%'`,
      )
      assert.equal(row?.n, 0, `${table}.${column}`)
    }
  await stored.close()
})
