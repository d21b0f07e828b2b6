import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectAssistant } from '../../../test/assistant.ts'
import { newWorkspace, readStored } from '../../../test/database.ts'
import { refused } from '../../../test/envelope.ts'
import { type client, startRapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { beside } from '../../../test/keys.ts'
import { browser, setUp, signIn } from '../../../test/people.ts'
import { before } from '../../../test/use.ts'
import { until } from '../../../test/webhooks.ts'
import { readConfig } from '../../config.ts'
import { transaction } from '../../db/db.ts'
import { cleanLog } from './retention.ts'

const day_ms = 24 * 3600 * 1000
const clock = turnableClock()
const rapport = useRapport({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
before(async () => {
  await setUp(rapport)
})

const clean = (audit_log_days: number | null, sign_in_address_days: number) =>
  beside(rapport.data_dir, (db) => cleanLog(db, clock, { audit_log_days, sign_in_address_days }))
const rows = async (where: string) => {
  const stored = await readStored(rapport.data_dir)
  const found = await stored.rows(`SELECT * FROM audit_log WHERE ${where} ORDER BY id`)
  await stored.close()
  return found
}
const email = 'ada@example.com'
const password = 'correct horse battery'

test('by default, the audit log is kept without a limit, and the address of a sign-in for 30 days', () => {
  const { audit_log_days, sign_in_address_days } = readConfig({})
  assert.deepEqual([audit_log_days, sign_in_address_days], [null, 30])
  const set = readConfig({ AUDIT_LOG_DAYS: '365', SIGN_IN_ADDRESS_DAYS: '0' })
  assert.deepEqual([set.audit_log_days, set.sign_in_address_days], [365, 0])
  for (const AUDIT_LOG_DAYS of ['0', '-1', 'never']) assert.throws(() => readConfig({ AUDIT_LOG_DAYS }))
})

test('the address and the browser of a sign-in go after their days; that it happened stays', async () => {
  const told = () => rows("action = 'signed_in' AND after IS NOT NULL")
  // More than one batch.
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      const [entry] = await tx.selectFrom('audit_log').selectAll().where('action', '=', 'signed_in').execute()
      const { id: _, ...rest } = entry ?? assert.fail('there is no sign-in')
      for (let n = 0; n < 205; n++) await tx.insertInto('audit_log').values(rest).execute()
    }),
  )
  clock.advance(30 * day_ms)
  const call = browser(rapport.url, { 'x-forwarded-for': '203.0.113.5' })
  assert.equal((await call('POST', '/session', { email, password })).status, 200)
  const before = await rows("action = 'signed_in'")
  clock.advance(-1)
  await clean(null, 30)
  assert.equal((await told()).length, before.length)
  clock.advance(2)
  await clean(null, 30)
  assert.deepEqual(
    (await told()).map(({ after }) => JSON.parse(String(after)).address),
    ['203.0.113.5'],
  )
  assert.equal((await rows("action = 'signed_in'")).length, before.length)
  await clean(null, 0)
  clock.advance(1)
  await clean(null, 0)
  assert.deepEqual(await told(), [])
})

test('entries of all workspaces go after the days that are set, and later ones stay', async () => {
  const { call } = rapport
  const other = await newWorkspace(rapport)
  for (let n = 0; n < 150; n++)
    for (const one of [call, other]) await one('POST', '/api/v1/companies', { name: `Old ${n}` })
  const old = clock.now()
  clock.advance(10 * day_ms)
  const company = (await call('POST', '/api/v1/companies', { name: 'New' })).body.data
  await clean(null, 30)
  const total = async (one: ReturnType<typeof client>) =>
    (await one('GET', '/api/v1/audit-log?kind=companies')).body.meta.total
  assert.deepEqual([await total(call), await total(other)], [151, 150])
  await clean(10, 30)
  assert.deepEqual([await total(call), await total(other)], [151, 150])
  clock.advance(1)
  await clean(10, 30)
  assert.deepEqual([await total(call), await total(other)], [1, 0])
  assert.equal((await rows(`occurred_at <= '${new Date(old).toISOString()}'`)).length, 0)
  // The records themselves, and the lists of them, are as they were.
  assert.equal((await call('GET', `/api/v1/companies/${company.id}`)).status, 200)
  assert.equal((await other('GET', '/api/v1/companies')).body.meta.total, 150)
})

test('a group of changes is reverted as a whole: it ends with its first entry', async () => {
  const { call } = rapport
  const { use, close } = await connectAssistant(rapport)
  const { id } = (await call('POST', '/api/v1/companies', { name: 'First' })).body.data
  const change_group = `grp_${'a'.repeat(32)}`
  await use('update_company', { id, name: 'Second', change_group })
  clock.advance(5 * day_ms)
  await use('update_company', { id, name: 'Third', change_group })
  // More than one batch.
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      const entries = await tx
        .selectFrom('audit_log')
        .selectAll()
        .where('change_group', '=', change_group)
        .execute()
      const { id: _, ...last } = entries.at(-1) ?? assert.fail('there is no entry')
      for (let n = 0; n < 205; n++) await tx.insertInto('audit_log').values(last).execute()
    }),
  )
  const shown = async () => (await call('GET', '/api/v1/audit-log?kind=companies&per_page=1')).body.data[0]
  clock.advance(5 * day_ms)
  await clean(10, 30)
  assert.equal((await shown()).group_id, change_group)
  clock.advance(1)
  await clean(10, 30)
  const { action, group_id, before } = await shown()
  assert.deepEqual([action, group_id, before.name], ['updated', null, 'Second'])
  refused(await call('POST', `/api/v1/audit-log/groups/${change_group}/revert`), 404, 'not_found')
  assert.equal((await call('GET', `/api/v1/companies/${id}`)).body.data.name, 'Third')
  await close()
})

test('a running service cleans its log by the settings', async (t) => {
  const own = turnableClock()
  const env = { AUDIT_LOG_DAYS: '5', SIGN_IN_ADDRESS_DAYS: '1' }
  const service = await startRapport({ clock: own, env, removal: { first_ms: 10, every_ms: 20 } })
  t.after(() => service.close())
  await setUp(service)
  const entries = async () => (await service.call('GET', '/api/v1/audit-log')).body
  const addresses = async () =>
    (await entries()).data.filter(({ after }: { after: { address?: string } }) => after?.address).length
  assert.equal(await addresses(), 1)
  own.advance(day_ms / 2)
  assert.equal((await signIn(service.url, email)).reply.status, 200)
  assert.equal(await addresses(), 2)
  own.advance(day_ms / 2 + 1)
  await until(addresses, 1)
  for (let days = 0; days < 5; days += 0.5) own.advance(day_ms / 2)
  await until(async () => (await entries()).meta.total, 0)
})
