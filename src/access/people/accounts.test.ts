import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMigrated } from '../../../test/engine.ts'
import { before, use } from '../../../test/use.ts'
import { transaction } from '../../db/db.ts'
import { createSeal } from '../../db/seal.ts'
import { createAccounts } from './accounts.ts'
import { hashesStarted, hashPassword } from './passwords.ts'
import { insertUser } from './users.ts'

const asker = { identified: false, key: '192.0.2.1' }
// The tests count hashes.
const cost = { memory: 8, passes: 1, parallelism: 1 }
const date = '2026-11-22T08:00:00.000Z'
const database = use(openMigrated)
let accounts: ReturnType<typeof createAccounts>
before(() => {
  accounts = createAccounts(database.db, createSeal('a key for tests'), cost)
})

const insert = (email: string, password_hash: string) =>
  transaction(database.db, (tx) => insertUser(tx, date, { name: 'Ada', email, password_hash }))
const password = 'correct horse battery'

/** How many hashes a wrong password costs, which is nearly all of its time. */
async function costOf(email: string): Promise<number> {
  const before = hashesStarted()
  assert.equal(await accounts.find(email, 'a wrong password', asker), null)
  return hashesStarted() - before
}

test('a wrong password costs the same for an unknown e-mail, an account, an older one, and many accounts', async () => {
  await insert('one@example.com', await accounts.hash('one@example.com', password, asker))
  await insert('older@example.com', await hashPassword(password, { cost }))
  for (let n = 0; n < 20; n++)
    await insert('many@example.com', await accounts.hash('many@example.com', `${password} ${n}`, asker))
  const costs: number[] = []
  for (const name of ['unknown', 'one', 'older', 'many']) costs.push(await costOf(`${name}@example.com`))
  assert.deepEqual(costs, [1, 1, 1, 1])
})

test('each password finds its own account, whether its hash is of before or of now', async () => {
  const email = 'both@example.com'
  const older = await insert(email, await hashPassword('the older password', { cost }))
  const newer = await insert(email, await accounts.hash(email, 'the newer password', asker))
  const found = async (given: string) => (await accounts.find(email, given, asker))?.id
  assert.equal(await found('the older password'), older)
  assert.equal(await found('the newer password'), newer)
  assert.equal(await found('neither of them'), undefined)
  assert.equal(await accounts.find('other@example.com', 'the newer password', asker), null)
})

test('the salt of an e-mail is of this installation alone, and of one spelling', async () => {
  const other = createAccounts(database.db, createSeal('another key'), cost)
  const hash = (by: typeof accounts, email: string) => by.hash(email, password, asker)
  assert.notEqual(await hash(accounts, 'a@example.com'), await hash(other, 'a@example.com'))
  assert.notEqual(await hash(accounts, 'a@example.com'), await hash(accounts, 'b@example.com'))
  assert.equal(await hash(accounts, 'A@EXAMPLE.com '), await hash(accounts, 'a@example.com'))
})
