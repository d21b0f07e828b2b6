// runs: both
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { type Rapport, useRapport } from '../../../test/harness.ts'
import { max_ids } from './groups.ts'

const rapport = useRapport()
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
