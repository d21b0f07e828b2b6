// runs: both
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, removeScratch, settingsOf } from '../../../test/engine.ts'
import { startRapport } from '../../../test/harness.ts'
import { browser } from '../../../test/people.ts'
import { hashPassword } from '../../access/people/passwords.ts'
import { transaction } from '../db.ts'
import { migrate } from '../migrate.ts'
import { hashToken } from '../token-hash.ts'
import { migrations } from './index.ts'

const date = '2026-01-01T00:00:00.000Z'
const far = '2999-01-01T00:00:00.000Z'
const composed = 'J\u00fcrgen@example.com'
const decomposed = 'Ju\u0308rgen@example.com'

test('accounts of before keep their sessions and passwords, two spellings of one e-mail each their own', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  await settingsOf(folder, { migrated: false })
  t.after(() => removeScratch(folder))
  const database = await openScratch(folder)
  await migrate(
    database,
    migrations.filter(({ name }) => name < '0013'),
  )
  const people = [
    { id: 'usr_1', email: composed, password: 'the first password', token: 'a'.repeat(43) },
    { id: 'usr_2', email: decomposed, password: 'the second password', token: 'b'.repeat(43) },
    { id: 'usr_3', email: 'gone@example.com', password: 'of nobody any more', token: null },
  ]
  // As the version before wrote them.
  await transaction(database.db, async (tx) => {
    await sql`INSERT INTO workspaces (id, name, created_at) VALUES (1, 'Old', ${date})`.execute(tx)
    for (const { id, email, password, token } of people) {
      const hash = await hashPassword(password)
      await sql`INSERT INTO users (id, name, email, email_key, password_hash, created_at, updated_at)
        VALUES (${id}, 'Old', ${email}, ${email.toLowerCase()}, ${hash}, ${date}, ${date})`.execute(tx)
      if (!token) continue
      await sql`INSERT INTO memberships (workspace_id, user_id, role, created_at, entered_at)
        VALUES (1, ${id}, 'owner', ${date}, ${date})`.execute(tx)
      await sql`INSERT INTO sessions (id, hash, user_id, workspace_id, created_at, last_used_at, expires_at)
        VALUES (${`ses_${id}`}, ${hashToken(token)}, ${id}, 1, ${date}, ${date}, ${far})`.execute(tx)
    }
  })
  const asked = Date.now()
  await migrate(database)
  const { rows } = await sql<{ id: string; email_key: string; left_at: string | null }>`
    SELECT id, email_key, left_at FROM users ORDER BY id`.execute(database.db)
  assert.deepEqual(
    rows.map(({ email_key, left_at }) => [email_key, left_at === null]),
    [
      ['j\u00fcrgen@example.com', true],
      ['j\u00fcrgen@example.com', true],
      ['gone@example.com', false],
    ],
  )
  assert.ok(Date.parse(String(rows[2]?.left_at)) >= asked - 1000)
  // The references to people are still held.
  const orphan = sql`INSERT INTO memberships (workspace_id, user_id, role, created_at, entered_at)
    VALUES (1, 'usr_none', 'owner', ${date}, ${date})`
  await assert.rejects(transaction(database.db, (tx) => orphan.execute(tx)))
  await database.close()

  const rapport = await startRapport({ data_dir: folder })
  t.after(() => rapport.close())
  for (const { id, password, token } of people.slice(0, 2)) {
    const call = browser(rapport.url)
    call.plant(`rapport_session=${token}`)
    assert.equal((await call('GET', '/session')).body.data.user.id, id)
    for (const email of [composed, decomposed]) {
      const reply = await browser(rapport.url)('POST', '/session', { email, password })
      assert.equal(reply.body.data.user.id, id)
    }
  }
})
