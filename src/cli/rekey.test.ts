import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { makeRequest } from '../../test/booking.ts'
import { engine, openScratch, removeScratch } from '../../test/engine.ts'
import { startRapport } from '../../test/harness.ts'
import { ask, setUp } from '../../test/people.ts'
import { scratchFolder } from '../../test/process.ts'
import { startReceiver } from '../../test/receiver.ts'
import { runRapport } from '../../test/run-rapport.ts'
import { useFor } from '../../test/use.ts'
import { act, register } from '../../test/webhooks.ts'
import { type Db, transaction } from '../db/db.ts'
import { createSeal, lastingMac } from '../db/seal.ts'
import { sealed_columns } from '../db/sealed.ts'
import { unsubscribeToken } from '../mails/unsubscribing.ts'

const before = 'the key before, which nobody can guess'
const after = 'the next key, which nobody can guess'
const third = 'a third key, which nobody can guess'
const secret = 'a secret of sixteen'

/** The columns that have a text, or a value in an object of JSON, that the key opens. */
async function sealedBy(db: Db, key: string): Promise<string[]> {
  const { open } = createSeal(key)
  const opened = (text: string): boolean => {
    if (text.startsWith('{')) {
      try {
        return Object.values(JSON.parse(text)).some((value) => typeof value === 'string' && opened(value))
      } catch {
        return false
      }
    }
    try {
      return open(text) !== ''
    } catch {
      return false
    }
  }
  const found = new Set<string>()
  for (const { name } of await db.introspection.getTables()) {
    const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)}`.execute(db)
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && opened(value)) found.add(`${name}.${column}`)
  }
  return [...found].sort()
}

const listed = [...new Set(sealed_columns.map(({ table, column }) => `${table}.${column}`))].sort()

/** A folder that was served with the first key, and has a value in each sealed column. */
async function folderOfOld(t: Parameters<typeof scratchFolder>[0]) {
  const data_dir = scratchFolder(t)
  t.after(() => removeScratch(data_dir))
  const receiver = await useFor(t, startReceiver())
  const rapport = await startRapport({
    data_dir,
    // No server: the mail with its token waits.
    env: { SECRET_KEY: before, SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'crm@example.com' },
  })
  const { call, key } = rapport
  const headers = { Authorization: 'Bearer abc', 'X-Tenant': 'one' }
  const { id } = await register(call, { name: 'Hook', url: receiver.url, secret, headers })
  const other = await register(call, { name: 'Rotated', url: receiver.url, headers })
  await act(call, other.id, 'rotate-secret', { overlap_hours: 1 })
  await call('POST', '/api/v1/invitations', { email: 'eve@example.com', role: 'member' })
  await makeRequest(rapport)
  const ada = await setUp(rapport)
  await ask(ada, 'POST', '/busy-calendars', { url: `${receiver.url}/a.ics`, password: 'pw' })
  const body = { name: 'Acme' }
  await call('POST', '/api/v1/companies', body, { 'idempotency-key': 'once' })
  await rapport.stop()
  return { data_dir, receiver, id, key, body }
}

test('after rekey the new key alone opens everything, and nothing is lost', async (t) => {
  const { data_dir, receiver, id, key, body } = await folderOfOld(t)
  await assert.rejects(
    startRapport({ data_dir, env: { SECRET_KEY: after } }),
    /is not the key that this database was written with.*SECRET_KEY_OLD/,
  )
  const both = { DATA_DIR: data_dir, SECRET_KEY: after, SECRET_KEY_OLD: before }
  const service = await startRapport({ data_dir, env: both })
  t.after(() => service.stop())

  const done = await runRapport(['rekey'], both)
  assert.deepEqual([done.code, done.stderr], [0, ''], done.stderr)
  assert.match(done.stdout, /^\d+ values were sealed again\.\n.*remove SECRET_KEY_OLD/)
  const again = await runRapport(['rekey'], both)
  assert.match(again.stdout, /^0 values were sealed again\./)

  const database = await openScratch(data_dir)
  const { db } = database
  assert.deepEqual(await sealedBy(db, after), listed)
  assert.deepEqual(await sealedBy(db, before), [])
  await database.close()
  await service.stop()

  const alone = await startRapport({ data_dir, env: { SECRET_KEY: after } })
  t.after(() => alone.stop())
  const authorization = `Bearer ${key}`
  const call = (...[method, path, sent, headers]: Parameters<typeof alone.call>) =>
    alone.call(method, path, sent, { authorization, ...headers })
  const replayed = await call('POST', '/api/v1/companies', body, { 'idempotency-key': 'once' })
  assert.deepEqual([replayed.status, replayed.headers.get('idempotency-replayed')], [201, 'true'])
  const sent = receiver.received.length
  assert.equal((await call('POST', `/api/v1/webhooks/${id}/test`)).status, 200)
  const ping = (await receiver.waitFor(sent + 1)).slice(sent)
  assert.equal(ping[0]?.headers.authorization, 'Bearer abc')
  await receiver.verify(secret, ping)
})

test('a link to unsubscribe of a mail before rekey works after it', async (t) => {
  const { data_dir } = await folderOfOld(t)
  const database = await openScratch(data_dir)
  t.after(() => database.close())
  const mac = await lastingMac(database.db, createSeal(before))
  const token = unsubscribeToken(mac, 'usr_1 assigned')
  const both = { DATA_DIR: data_dir, SECRET_KEY: after, SECRET_KEY_OLD: before }
  assert.equal((await runRapport(['rekey'], both)).code, 0)
  const alone = await useFor(t, startRapport({ data_dir, env: { SECRET_KEY: after } }))
  const stop = (link: string) => fetch(`${alone.url}/mail/unsubscribe/${link}`, { method: 'POST' })
  assert.equal((await stop(token)).status, 200)
  // Another letter in the middle of the code: the last one has bits that count for nothing.
  const other = token.at(-9) === 'A' ? 'B' : 'A'
  assert.equal((await stop(`${token.slice(0, -9)}${other}${token.slice(-8)}`)).status, 404)
})

test('a run that was stopped, and runs beside each other and beside changes, leave no value of the old key', async (t) => {
  const { data_dir, receiver, key } = await folderOfOld(t)
  const both = { DATA_DIR: data_dir, SECRET_KEY: after, SECRET_KEY_OLD: before }
  const old = createSeal(before)
  const database = await openScratch(data_dir)
  t.after(() => database.close())
  const { db } = database
  const row = await db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow()
  const { seq: _seq, ...columns } = row
  // More than a batch. A third of it is done, as after a stop.
  for (let n = 0; n < 450; n++) {
    const seal = n % 3 === 0 ? createSeal(after) : old
    const value = { ...columns, id: `wh_more${n}`, secret: seal.seal(secret), status: 'paused' as const }
    await transaction(db, (tx) => tx.insertInto('webhooks').values(value).execute())
  }
  const service = await startRapport({ data_dir, env: { ...both, MAX_WEBHOOKS: '1000' } })
  t.after(() => service.stop())
  const authorization = `Bearer ${key}`
  const change = async (n: number) => {
    const path = `/api/v1/webhooks/wh_more${n}`
    const rotated = await service.call(
      'POST',
      `${path}/rotate-secret`,
      { overlap_hours: 1 },
      { authorization },
    )
    assert.equal(rotated.status, 200, rotated.text)
    const fields = { url: receiver.url, events: ['*'], headers: { Authorization: '***', 'X-New': 'new' } }
    const changed = await service.call('PUT', path, fields, { authorization })
    assert.equal(changed.status, 200, changed.text)
  }
  const changes = (async () => {
    for (let n = 0; n < 450; n += 15) await change(n)
  })()
  const runs = await Promise.all([runRapport(['rekey'], both), runRapport(['rekey'], both), changes])
  for (const run of runs.slice(0, 2)) assert.equal(run?.code, 0, run?.stderr)
  assert.deepEqual(await sealedBy(db, before), [])
})

test('a value that neither key opens is named by rekey and at a start, and does not stop either', async (t) => {
  const { data_dir, id } = await folderOfOld(t)
  const database = await openScratch(data_dir)
  const value = createSeal(third).seal(secret)
  await transaction(database.db, (tx) =>
    tx.updateTable('webhooks').set({ secret: value }).where('id', '=', id).execute(),
  )
  await database.close()
  const both = { DATA_DIR: data_dir, SECRET_KEY: after, SECRET_KEY_OLD: before }
  const { code, stderr } = await runRapport(['rekey'], both)
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`Neither key opens webhooks\\.secret of ${id}\\.`))
  await (await startRapport({ data_dir, env: { SECRET_KEY: after } })).stop()
})

test('a backup of the time before a new key is restored and moved with both keys, and refused with the new one alone', {
  skip: engine === 'postgres' && 'pg_dump makes the backups of PostgreSQL',
}, async (t) => {
  const { data_dir } = await folderOfOld(t)
  const file = join(scratchFolder(t), 'copy.db')
  const old = { DATA_DIR: data_dir, SECRET_KEY: before }
  assert.equal((await runRapport(['backup', file], old)).code, 0)
  const restored = { DATA_DIR: join(scratchFolder(t), 'restored'), SECRET_KEY: after }
  const refused = await runRapport(['restore', file], restored)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /set SECRET_KEY_OLD to that one, and run .*rekey/)
  const both = { ...restored, SECRET_KEY_OLD: before }
  const done = await runRapport(['restore', file], both)
  assert.equal(done.code, 0, done.stderr)

  const moved = join(scratchFolder(t), 'moved')
  const places = ['--from', `sqlite:${both.DATA_DIR}`, '--to', `sqlite:${moved}`]
  const move = await runRapport(['move', ...places], both)
  assert.equal(move.code, 0, move.stderr)
  assert.match(move.stdout, /SECRET_KEY and SECRET_KEY_OLD that are set here[\s\S]*rekey/)
  const rekey = await runRapport(['rekey'], { ...both, DATA_DIR: moved })
  assert.equal(rekey.code, 0, rekey.stderr)
  const again = await runRapport(['move', '--from', `sqlite:${moved}`, '--to', `sqlite:${moved}-2`], {
    ...both,
    DATA_DIR: moved,
  })
  assert.match(again.stdout, /the SECRET_KEY that is set here/)
})

test('rekey without SECRET_KEY_OLD, or with the wrong keys, changes nothing and says what to set', async (t) => {
  const { data_dir } = await folderOfOld(t)
  const refused = async (env: Record<string, string>, message: RegExp) => {
    const { code, stderr } = await runRapport(['rekey'], { DATA_DIR: data_dir, ...env })
    assert.equal(code, 1)
    assert.match(stderr, message)
  }
  await refused({ SECRET_KEY: after }, /SECRET_KEY_OLD is not set/)
  await refused({ SECRET_KEY: after, SECRET_KEY_OLD: third }, /is not the key/)
  const database = await openScratch(data_dir)
  assert.deepEqual(await sealedBy(database.db, before), listed)
  await database.close()
})

test('the list of sealed columns has what each file seals', {
  skip: engine === 'postgres' && 'the sources do not depend on the engine',
}, () => {
  const root = new URL('..', import.meta.url).pathname
  const sealing = globSync('**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && /\bseal\(/.test(readFileSync(join(root, file), 'utf8')))
    .map((file) => file.replaceAll('\\', '/'))
  // A new file here seals a new value: add its column to sealed_columns, and to the fixture above.
  assert.deepEqual(sealing.sort(), [
    'busy/routes.ts',
    'db/seal.ts',
    'db/sealed.ts',
    'http/idempotency.ts',
    'mails/outbox.ts',
    'resources/appointments/bookings.ts',
    'webhooks/registration/headers.ts',
    'webhooks/registration/secrets.ts',
    'webhooks/registration/webhooks.ts',
  ])
})
