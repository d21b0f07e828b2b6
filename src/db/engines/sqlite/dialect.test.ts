import assert from 'node:assert/strict'
import { constants, DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Kysely, sql } from 'kysely'
import { readingDialect } from './dialect.ts'

test('a statement with a LIMIT is compiled once, whatever its values', async () => {
  const connection = new DatabaseSync(':memory:')
  connection.exec('CREATE TABLE numbers (n)')
  let compiled = 0
  connection.setAuthorizer((action) => {
    if (action === constants.SQLITE_SELECT) compiled++
    return constants.SQLITE_OK
  })
  const db = new Kysely<{ numbers: { n: number } }>({ dialect: readingDialect(connection, () => {}) })
  for (const few of [3, 2, 1]) {
    await db.selectFrom('numbers').select('n').orderBy('n').limit(few).offset(few).execute()
    await sql`SELECT n FROM numbers ORDER BY n LIMIT ${few}`.execute(db)
  }
  assert.equal(compiled, 2)
  connection.close()
})
