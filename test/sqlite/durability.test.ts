import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { readConfig } from '../../src/config.ts'
import { type Database, type Db, transaction } from '../../src/db/db.ts'
import { durabilityProblems } from '../../src/db/durability.ts'
import { sqliteDialect } from '../../src/db/engines/sqlite/dialect.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import type { Tables } from '../../src/db/tables.ts'
import { client, startRapport } from '../harness.ts'
import { scratchFolder } from '../process.ts'

// Query the two connections of the service: the settings of another connection may differ.
async function settings(db: Db) {
  const of = async (name: string) =>
    Object.values((await sql<object>`PRAGMA ${sql.raw(name)}`.execute(db)).rows[0] ?? {})[0]
  return {
    synchronous: await of('synchronous'),
    journal_mode: await of('journal_mode'),
    foreign_keys: await of('foreign_keys'),
    busy_timeout: await of('busy_timeout'),
    query_only: await of('query_only'),
  }
}

async function opened(t: Parameters<typeof scratchFolder>[0]): Promise<Database> {
  const database = await openDatabase(readConfig({ DATA_DIR: scratchFolder(t) }))
  t.after(() => database.close())
  await migrate(database)
  return database
}

const full = 2
test('the connection that writes syncs every commit, keeps a write-ahead log, checks foreign keys, and leaves waiting for locks to the commit groups', async (t) => {
  const { db } = await opened(t)
  assert.deepEqual(await transaction(db, settings), {
    synchronous: full,
    journal_mode: 'wal',
    foreign_keys: 1,
    busy_timeout: 0,
    query_only: 0,
  })
})

test('the connection that reads waits for a lock, and cannot write', async (t) => {
  const { db } = await opened(t)
  assert.deepEqual(await settings(db), {
    synchronous: full,
    journal_mode: 'wal',
    foreign_keys: 1,
    busy_timeout: 5000,
    query_only: 1,
  })
})

for (const level of ['OFF', 'NORMAL', 'FULL', 'EXTRA'])
  test(`what a connection that writes with synchronous = ${level} would lose is told`, async (t) => {
    const file = join(scratchFolder(t), 'rapport.db')
    const [writer, reader] = [new DatabaseSync(file), new DatabaseSync(file)]
    writer.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${level}`)
    const listeners = { onCommit() {}, onGroup() {}, onSlow() {} }
    const db = new Kysely<Tables>({ dialect: sqliteDialect(writer, reader, listeners) })
    const problems = await durabilityProblems({ db, engine: 'sqlite' })
    await db.destroy()
    for (const one of [reader, writer]) one.close()
    const told = /synchronous = [01]: a power cut loses acknowledged writes/.test(problems.join())
    assert.equal(told, level === 'OFF' || level === 'NORMAL')
  })

test('/metrics tells that a power cut leaves what was acknowledged', async (t) => {
  const rapport = await startRapport()
  t.after(rapport.close)
  const { text } = await client(rapport.url, null)('GET', '/metrics')
  assert.match(text, /^rapport_database_durable 1$/m)
})
