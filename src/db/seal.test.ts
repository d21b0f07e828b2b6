import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { readStored } from '../../test/database.ts'
import { startService } from '../../test/faults/service.ts'
import { startRapport } from '../../test/harness.ts'
import { beside } from '../../test/keys.ts'
import { transaction } from './db.ts'
import { createSeal, keyFile, readSecretKey } from './seal.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('what is sealed comes back with the same key, and never looks the same twice', () => {
  const seal = createSeal('a key')
  for (const text of ['', 'whsec_ü😀\0', 'x'.repeat(100_000)]) {
    const [one, other] = [seal.seal(text), seal.seal(text)]
    assert.notEqual(one, other)
    assert.ok(!text || !Buffer.from(one, 'base64').includes(text))
    assert.deepEqual([seal.open(one), createSeal('a key').open(other)], [text, text])
  }
})

test('another key, or a single changed bit, opens nothing', () => {
  const sealed = createSeal('a key').seal('secret')
  assert.throws(() => createSeal('another').open(sealed))
  const bytes = Buffer.from(sealed, 'base64')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    assert.throws(() => createSeal('a key').open(changed.toString('base64')))
  }
  for (const short of ['', 'AAAA', sealed.slice(0, 20)]) assert.throws(() => createSeal('a key').open(short))
})

test('without SECRET_KEY the key is a file of the data folder, made once, for its owner only', () => {
  const key = readSecretKey(null, folder)
  assert.equal(Buffer.from(key, 'base64').length, 32)
  assert.equal(statSync(keyFile(folder)).mode & 0o777, 0o600)
  assert.equal(readSecretKey(null, folder), key)
  assert.equal(readFileSync(keyFile(folder), 'utf8').trim(), key)
})

test('SECRET_KEY is used as it is, and then there is no file', async () => {
  const rapport = await startRapport({
    data_dir: folder,
    env: { SECRET_KEY: 'my own key, which nobody can guess' },
  })
  await rapport.close()
  assert.throws(() => statSync(keyFile(folder)))
  await assert.rejects(
    startRapport({ data_dir: folder, env: { SECRET_KEY: 'another key, which nobody can guess' } }),
    /is not the key that this database was written with/,
  )
  await assert.rejects(startRapport({ data_dir: folder }), /is not the key/)
})

test('a SECRET_KEY of less than 32 characters seals no database, and the refusal says how to make one', async () => {
  for (const SECRET_KEY of ['x', 'x'.repeat(31)])
    await assert.rejects(
      startRapport({ data_dir: folder, env: { SECRET_KEY } }),
      /SECRET_KEY has \d+ characters: it needs 32 or more .*openssl rand -hex 32/,
    )
  await (await startRapport({ data_dir: folder, env: { SECRET_KEY: 'x'.repeat(32) } })).close()
})

test('a database that was sealed with a short key before goes on with it, and the log says what is wrong', async (t) => {
  await (await startRapport({ data_dir: folder, env: { SECRET_KEY: 'y'.repeat(32) } })).close()
  await beside(folder, (db) =>
    transaction(db, async (tx) => {
      const value = createSeal('short').seal('rapport')
      await tx.updateTable('settings').set({ value }).where('name', '=', 'seal').execute()
      await tx.deleteFrom('settings').where('name', '=', 'mac').execute()
    }),
  )
  const service = await startService(folder, { env: { SECRET_KEY: 'short' }, key: 'known' })
  t.after(() => service.end('SIGKILL'))
  assert.match(service.complaints(), /SECRET_KEY has 5 characters/)
})

test('a start with another key file is refused before anything is served, and the right one helps', async () => {
  await (await startRapport({ data_dir: folder })).close()
  const right = readFileSync(keyFile(folder))
  writeFileSync(keyFile(folder), Buffer.alloc(32, 7).toString('base64'))
  await assert.rejects(startRapport({ data_dir: folder }), /Restore the right key/)
  writeFileSync(keyFile(folder), right)
  await (await startRapport({ data_dir: folder })).close()
})

test('webhook secrets are encrypted in the database', async () => {
  const rapport = await startRapport({ data_dir: folder })
  const hook = {
    name: 'Hook',
    url: 'http://127.0.0.1:9/',
    events: ['company.created'],
    secret: 'a secret of sixteen',
  }
  const made = await rapport.call('POST', '/api/v1/webhooks', hook, { 'idempotency-key': 'a' })
  assert.equal(made.status, 201, made.text)
  const stored = await readStored(folder)
  const kept = JSON.stringify([
    await stored.rows('SELECT * FROM webhooks'),
    await stored.rows('SELECT * FROM idempotency_keys'),
  ])
  await stored.close()
  assert.ok(!kept.includes('sixteen'))
  await rapport.close()
})
