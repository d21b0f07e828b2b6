// runs: both
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { ana, fieldOf, openPage } from '../../../test/booking.ts'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { type Rapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { importFile } from '../../../test/imports.ts'
import { beside } from '../../../test/keys.ts'
import { systemClock } from '../../clock.ts'
import { command_line, contextOf } from '../../events/context.ts'
import { contacts } from '../../resources/contacts/resource.ts'
import { resources } from '../../resources/index.ts'
import { removeRecords } from '../trash/removal.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
type Json = any
const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
let call: Rapport['call']
beforeEach(async () => {
  call = await newWorkspace(rapport)
})

const ok = async (method: string, path: string, body?: object): Promise<Json> =>
  dataOf(await call(method, `/api/v1${path}`, body))
const name = { first_name: 'Ana', last_name: 'Ruiz' }
const contact = async (fields: object = {}): Promise<number> =>
  (await ok('POST', '/contacts', { ...name, ...fields })).id
const merge = async (path: string, ...from_ids: number[]): Promise<number> => {
  const reply = await call('POST', `/api/v1${path}/merge`, { from_ids })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.meta?.merge_id ?? reply.body.data.merge_id
}
const upsert = async (kind: string, match: string, ...all: object[]) =>
  (await ok('POST', `/${kind}/batch`, {
    items: all.map((data) => ({ op: 'upsert', match, data })),
  })) as Json[]
const idsAndStatus = (results: Json[]) => results.map(({ id, status }) => [id, status])

test('an upsert by a value of a merged record finds the survivor, also after several merges', async () => {
  const [a, b, c] = [
    await contact({ email: 'a@acme.example' }),
    await contact({ email: 'b@acme.example' }),
    await contact({ email: 'c@acme.example' }),
  ]
  await merge(`/contacts/${b}`, a)
  await merge(`/contacts/${c}`, b)
  for (const email of ['A@acme.example', 'b@acme.example', 'c@acme.example'])
    assert.deepEqual(idsAndStatus(await upsert('contacts', 'email', { email, title: email })), [
      [c, 'updated'],
    ])
  const [one, two] = [
    (await ok('POST', '/companies', { name: 'Acme', website: 'acme.example' })).id,
    (await ok('POST', '/companies', { name: 'Acme Europe', website: 'acme.eu.example' })).id,
  ]
  await merge(`/companies/${one}`, two)
  assert.equal((await upsert('companies', 'name', { name: 'ACME  Europe', phone: '1' }))[0].id, one)
  assert.equal(
    (await upsert('companies', 'website', { website: 'https://acme.eu.example/', phone: '2' }))[0].id,
    one,
  )
})

test('a live record with the value comes before the survivor of a merge', async () => {
  const [a, b] = [await contact({ email: 'a@acme.example' }), await contact()]
  await merge(`/contacts/${b}`, a)
  const other = await contact({ email: 'a@acme.example' })
  await ok('PUT', `/contacts/${b}`, { email: null })
  assert.equal((await upsert('contacts', 'email', { email: 'a@acme.example', title: 'x' }))[0].id, other)
})

test('a unique custom field of a merged record finds the survivor', async () => {
  await ok('POST', '/custom-fields', { resource: 'contacts', key: 'code', type: 'text', unique: true })
  const [a, b] = [
    await contact({ custom_fields: { code: 'A-1' } }),
    await contact({ custom_fields: { code: 'B-1' } }),
  ]
  await merge(`/contacts/${b}`, a)
  const [result] = await upsert('contacts', 'custom_fields.code', {
    custom_fields: { code: 'A-1' },
    title: 'x',
  })
  assert.deepEqual([result.id, result.status], [b, 'updated'])
  assert.deepEqual((await ok('GET', `/contacts/${b}`)).custom_fields, { code: 'B-1' })
})

test('two items of a batch that name one record, by its value and by that of a merged one, both change it', async () => {
  const [a, b] = [await contact({ email: 'a@acme.example' }), await contact({ email: 'b@acme.example' })]
  await merge(`/contacts/${b}`, a)
  const results = await upsert(
    'contacts',
    'email',
    { email: 'b@acme.example', title: 'Head' },
    { email: 'a@acme.example', phone: '1' },
  )
  assert.deepEqual(idsAndStatus(results), [
    [b, 'updated'],
    [b, 'updated'],
  ])
  const { title, phone, email } = await ok('GET', `/contacts/${b}`)
  assert.deepEqual([title, phone, email], ['Head', '1', 'b@acme.example'])
})

test('an undo of the merge gives the value back to its record', async () => {
  const [a, b] = [await contact({ email: 'a@acme.example' }), await contact({ email: 'b@acme.example' })]
  await merge(`/contacts/${b}`, a)
  const [{ id: merge_id }] = await ok('GET', '/merges')
  await ok('POST', `/merges/${merge_id}/undo`)
  assert.equal((await upsert('contacts', 'email', { email: 'a@acme.example', title: 'x' }))[0].id, a)
})

test('an import and a booking find the survivor', async () => {
  call = rapport.call
  const [a, b] = [
    await contact({ email: 'old@acme.example', tags: ['x'] }),
    await contact({ email: 'new@acme.example' }),
  ]
  await merge(`/contacts/${b}`, a)
  const file = 'email,first_name,last_name,title\nold@acme.example,Ana,Ruiz,Head\n'
  const query = { resource: 'contacts', match: 'email', on_match: 'update' }
  assert.equal((await importFile(rapport, query, file)).updated, 1)
  assert.equal((await ok('GET', `/contacts/${b}`)).title, 'Head')

  const { path, get, post } = await openPage(rapport)
  const [{ start_at: slot }] = JSON.parse((await get(`${path}/slots`)).text).data
  const token = fieldOf((await get(`${path}?slot=${slot}`)).text, 'token')
  const booked = await post(path, { ...ana, email: 'OLD@acme.example', slot, token })
  assert.equal(booked.status, 303, booked.text)
  const [appointment] = await ok('GET', `/appointments?contact_id=${b}`)
  assert.equal(appointment.start_at, slot)
})

test('the values stay when the trash removes the merged record, and go with the survivor', async () => {
  const [a, b] = [await contact({ email: 'a@acme.example' }), await contact({ email: 'b@acme.example' })]
  await merge(`/contacts/${b}`, a)
  const [{ workspace_id } = {}] = await stored.rows(`SELECT workspace_id FROM contacts WHERE id = ${a}`)
  const context = contextOf(systemClock, {
    workspace_id: Number(workspace_id),
    actor: command_line,
    request_id: null,
  })
  const removal = { resource: contacts, ids: [a], action: 'removed' } as const
  await beside(rapport.data_dir, (db) => removeRecords(db, context, resources, removal))
  const email = { email: 'a@acme.example', title: 'x' }
  assert.equal((await upsert('contacts', 'email', email))[0].id, b)
  await ok('DELETE', `/contacts/${b}`)
  const reply = await call('DELETE', `/api/v1/trash/contacts/${b}`)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(await stored.rows(`SELECT value FROM merged_values WHERE record_id = ${a}`), [])
})
