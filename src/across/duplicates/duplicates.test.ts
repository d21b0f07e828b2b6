// runs: both
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { type Rapport, useRapport } from '../../../test/harness.ts'
import { max_ids } from './groups.ts'

const rapport = useRapport()
const stored = useStored(rapport)
let call: Rapport['call']
beforeEach(async () => {
  call = await newWorkspace(rapport)
})

let people = 0
async function make(kind: string, fields: object): Promise<number> {
  const named =
    kind === 'contacts'
      ? { first_name: `Person ${++people}`, last_name: 'Ruiz' }
      : { name: `Acme ${++people}` }
  const reply = await call('POST', `/api/v1/${kind}`, { ...named, ...fields })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}
async function groups(kind: string, query = '') {
  const reply = await call('GET', `/api/v1/${kind}/duplicates${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

test('contacts with an equal e-mail, telephone number or name are groups, best reason first', async () => {
  const namesakes = [
    await make('contacts', { first_name: 'José', last_name: 'Müller' }),
    await make('contacts', { first_name: 'JOSE', last_name: 'muller', email: 'jm@one.example' }),
  ]
  const callers = [
    await make('contacts', { phone: '+34 910 55-01.42' }),
    await make('contacts', { phone: '(+34) 910/550142' }),
  ]
  const mailed = [
    await make('contacts', { email: 'Ana.Ruiz@Acme.example' }),
    await make('contacts', { email: 'ana.ruiz@acme.example' }),
  ]
  await make('contacts', { email: 'ana@acme.example', phone: '12' })
  await make('contacts', { phone: '12' })
  assert.deepEqual(await groups('contacts'), {
    success: true,
    data: [
      { reason: 'email', ids: mailed },
      { reason: 'phone', ids: callers },
      { reason: 'name', ids: namesakes },
    ],
    meta: { per_page: 25, next_cursor: null },
  })
})

test('companies with an equal telephone number or name are groups, and contacts are not among them', async () => {
  const same = { name: 'Acme Inc.', phone: '+1 202 555 0143' }
  const ids = [await make('companies', same), await make('companies', { ...same, name: 'ACME INC.' })]
  const third = await make('companies', { name: 'Acme Inc.' })
  await make('contacts', { phone: same.phone })
  const { data } = await groups('companies')
  assert.deepEqual(data, [
    { reason: 'phone', ids },
    { reason: 'name', ids: [...ids, third] },
  ])
})

test('a group that a better reason has is not repeated', async () => {
  const same = { first_name: 'Ana', last_name: 'Ruiz', email: 'ana@acme.example', phone: '+34 910550142' }
  const ids = [await make('contacts', same), await make('contacts', same)]
  assert.deepEqual((await groups('contacts')).data, [{ reason: 'email', ids }])
})

test('records in the trash and records of other workspaces are in no group', async () => {
  const same = { email: 'ana@acme.example' }
  const [first] = [await make('contacts', same), await make('contacts', same)]
  const other = await newWorkspace(rapport)
  const made = await other('POST', '/api/v1/contacts', { first_name: 'A', last_name: 'B', ...same })
  assert.equal(made.status, 201)
  assert.equal((await groups('contacts')).data.length, 1)
  await call('DELETE', `/api/v1/contacts/${first}`)
  assert.deepEqual((await groups('contacts')).data, [])
})

test('the cursor visits every group once, and a shared address shows its lowest ids', async () => {
  const expected: number[][] = []
  for (const email of ['a', 'b', 'c', 'd', 'e']) {
    const same = { email: `${email}@acme.example` }
    expected.push([await make('contacts', same), await make('contacts', same)])
  }
  const shared: number[] = []
  for (let i = 0; i < max_ids + 5; i++) shared.push(await make('contacts', { email: 'info@acme.example' }))
  expected.push(shared.slice(0, max_ids))
  const seen: number[][] = []
  for (let cursor: string | null = 'start'; cursor !== null; ) {
    const { data, meta } = await groups('contacts', `?per_page=2&cursor=${cursor}`)
    seen.push(...data.map(({ ids }: { ids: number[] }) => ids))
    cursor = meta.next_cursor
  }
  assert.deepEqual(seen, expected)
})

test('a wrong cursor and unknown parameters are refused', async () => {
  assert.equal((await call('GET', '/api/v1/contacts/duplicates?cursor=x')).status, 422)
  assert.equal((await call('GET', '/api/v1/contacts/duplicates?page=2')).status, 400)
})

const say = (what: 'dismiss' | 'restore', kind: string, ids: readonly number[]) =>
  call('POST', `/api/v1/${kind}/duplicates/${what}`, { ids })
const idsOf = async (kind: string) => (await groups(kind)).data.map(({ ids }: { ids: number[] }) => ids)

test('a dismissed pair is in no group of any reason, and back after it is restored', async () => {
  const same = { first_name: 'Ana', last_name: 'Ruiz', email: 'ana@acme.example', phone: '+34 910550142' }
  const ids = [await make('contacts', same), await make('contacts', same)]
  const reply = await say('dismiss', 'contacts', ids)
  assert.deepEqual([reply.status, reply.body], [200, { success: true, data: { ids } }])
  assert.deepEqual(await idsOf('contacts'), [])
  assert.equal((await say('dismiss', 'contacts', ids)).status, 200)
  assert.equal((await say('restore', 'contacts', [...ids].reverse())).status, 200)
  assert.deepEqual(await idsOf('contacts'), [ids])

  const companies = [await make('companies', { name: 'Acme' }), await make('companies', { name: 'ACME' })]
  assert.equal((await say('dismiss', 'companies', companies)).status, 200)
  assert.deepEqual(await idsOf('companies'), [])
  assert.deepEqual(await idsOf('contacts'), [ids])
})

test('a dismissed pair comes back when both have another equal value, and by no other change', async () => {
  const ids = [
    await make('contacts', { phone: '910550142' }),
    await make('contacts', { phone: '910 550 142' }),
  ]
  await say('dismiss', 'contacts', ids)
  for (const id of ids) await call('PUT', `/api/v1/contacts/${id}`, { stage: 'lead', tags: ['new'] })
  assert.deepEqual(await idsOf('contacts'), [])
  const [first, second] = ids
  await call('PUT', `/api/v1/contacts/${first}`, { email: 'ana@acme.example' })
  await call('PUT', `/api/v1/contacts/${second}`, { email: 'ana@acme.example' })
  assert.deepEqual((await groups('contacts')).data, [{ reason: 'email', ids }])
})

test('a record leaves a group that it was dismissed with as a whole, and makes room for others of it', async () => {
  const shared = { email: 'info@acme.example' }
  const ids: number[] = []
  for (let n = 0; n < max_ids + 2; n++) ids.push(await make('contacts', shared))
  const [a = 0, b = 0, ...others] = ids
  await say('dismiss', 'contacts', [a, b])
  assert.deepEqual(await idsOf('contacts'), [ids.slice(0, max_ids)])
  for (const other of others) await say('dismiss', 'contacts', [a, other])
  assert.deepEqual(await idsOf('contacts'), [[b, ...others].slice(0, max_ids)])
  await say('dismiss', 'contacts', others.slice(0, max_ids))
  assert.equal((await idsOf('contacts')).length, 1)
})

test('a dismissal is in the audit log of each record, and names live records only', async () => {
  const ids = [await make('contacts', { phone: '910550142' }), await make('contacts', { phone: '910550142' })]
  await say('dismiss', 'contacts', ids)
  const entries = async (id: number | undefined) =>
    (await call('GET', `/api/v1/audit-log?kind=contacts&record_id=${id}`)).body.data.map(
      ({ action, after }: { action: string; after: object }) => [action, after],
    )
  assert.deepEqual((await entries(ids[0]))[0], ['duplicates_dismissed', { ids: [ids[1]] }])
  assert.deepEqual((await entries(ids[1]))[0], ['duplicates_dismissed', { ids: [ids[0]] }])
  await say('restore', 'contacts', ids)
  await say('restore', 'contacts', ids)
  assert.equal((await entries(ids[0])).length, 3)

  const other = await newWorkspace(rapport)
  const theirs = (await other('POST', '/api/v1/contacts', { first_name: 'A', last_name: 'B' })).body.data.id
  await call('DELETE', `/api/v1/contacts/${ids[1]}`)
  const refused = await say('dismiss', 'contacts', [ids[0] as number, theirs, ids[1] as number])
  assert.equal(refused.status, 422)
  assert.deepEqual(
    refused.body.error.fields.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [
      ['ids[1]', 'not_found'],
      ['ids[2]', 'not_found'],
    ],
  )
})

test('an erased record leaves no value in a dismissal', async () => {
  const ids = [await make('contacts', { phone: '910550142' }), await make('contacts', { phone: '910550142' })]
  await say('dismiss', 'contacts', ids)
  const values = () => stored.rows(`SELECT value FROM dismissed_pairs WHERE second_id = ${ids[1]}`)
  assert.equal((await values()).length, 1)
  await call('DELETE', `/api/v1/contacts/${ids[0]}`)
  const erased = await call('DELETE', `/api/v1/trash/contacts/${ids[0]}`)
  assert.equal(erased.status, 200, erased.text)
  assert.deepEqual(await values(), [])
})
