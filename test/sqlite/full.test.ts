import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { databaseFile } from '../../src/db/engines/sqlite/open.ts'
import { readStored } from '../database.ts'
import { refused } from '../envelope.ts'
import { type Rapport, startRapport } from '../harness.ts'

let rapport: Rapport
let call: Rapport['call']
let intruder: DatabaseSync
before(async () => {
  rapport = await startRapport()
  call = rapport.call
  intruder = new DatabaseSync(databaseFile(rapport.data_dir))
})
after(async () => {
  intruder.close()
  await rapport.close()
})

const company = () => call('POST', '/api/v1/companies', { name: 'Acme' })
const contact = () => call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
const total = async (resource: string) => (await call('GET', `/api/v1/${resource}`)).body.meta.total

test('when the database is full, all writes that share the commit are 503, and store nothing', async () => {
  assert.equal((await company()).status, 201)
  // SQLite answers SQLITE_FULL also when a table has used up its last id.
  const setLastId = (id: bigint) =>
    intruder.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'companies'").run(id)
  setLastId(9223372036854775807n)
  const replies = await Promise.all([contact(), company(), contact(), company(), contact()])
  for (const reply of [replies[1], replies[3]]) refused(reply as never, 503, 'unavailable')
  const made = replies.filter(({ status }) => status === 201).length
  for (const { status } of replies) assert.ok([201, 503].includes(status))
  assert.deepEqual([await total('companies'), await total('contacts')], [1, made])
  setLastId(1n)
  assert.equal((await company()).status, 201)
  const stored = await readStored(rapport.data_dir)
  for (const [event, table] of [
    ['company.created', 'companies'],
    ['contact.created', 'contacts'],
  ] as const)
    assert.deepEqual(
      await stored.rows('SELECT count(*) AS n FROM events WHERE event = ?', event),
      await stored.rows(`SELECT count(*) AS n FROM ${table}`),
    )
  await stored.close()
})
