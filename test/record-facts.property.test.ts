// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace, useStored } from './database.ts'
import { dataOf } from './envelope.ts'
import { type Reply, useRapport } from './harness.ts'
import { runs } from './quick.ts'
import { unlessBusy } from './webhooks.ts'

// The last contact, the next step and the value of open deals follow whatever is done with activities and deals.

const rapport = useRapport()
const stored = useStored(rapport)

type Call = (method: string, path: string, body?: unknown) => Promise<Reply>
type Row = { id: number; last_contacted_at: string | null; next_activity_at: string | null; value: number }

/** The three fields of all records of a kind, as they are stored, and as activities and deals have them. */
const factsOf = (kind: 'contacts' | 'companies', by: string) => ({
  kept: `SELECT id, last_contacted_at, next_activity_at, open_deals_units AS value FROM ${kind} ORDER BY id`,
  computed: `SELECT id,
    (SELECT max(completed_at) FROM activities WHERE ${by} = ${kind}.id AND deleted_at IS NULL
      AND type IN ('call', 'email', 'meeting')) AS last_contacted_at,
    (SELECT min(due_at) FROM activities WHERE ${by} = ${kind}.id AND deleted_at IS NULL
      AND completed_at IS NULL) AS next_activity_at,
    (SELECT CAST(coalesce(sum(value_units), 0) AS bigint) FROM deals WHERE ${by} = ${kind}.id AND deleted_at IS NULL
      AND stage NOT IN ('won', 'lost')) AS value
    FROM ${kind} ORDER BY id`,
})

async function assertKept(): Promise<Row[]> {
  const found: Row[] = []
  for (const [kind, by] of [
    ['contacts', 'contact_id'],
    ['companies', 'company_id'],
  ] as const) {
    const { kept, computed } = factsOf(kind, by)
    const [is, wanted] = [await stored.rows(kept), await stored.rows(computed)]
    assert.deepEqual(is, wanted, kind)
    found.push(...(is as unknown as Row[]))
  }
  return found
}

const nat = fc.nat({ max: 99 })
const due_at = fc.option(
  fc.constantFrom('2026-12-01T09:00:00.000Z', '2026-12-02T09:00:00.000Z', '2027-01-01T00:00:00.000Z'),
)
const type = fc.constantFrom('call', 'email', 'meeting', 'task', 'other')
const stage = fc.constantFrom('new_lead', 'proposal', 'won', 'lost')
const value = fc.option(fc.constantFrom(0, 10.5, 99.9999, 12_000))
const plain = { noNullPrototype: true }
const references = fc.record({ contact: fc.option(nat), company: fc.option(nat) }, plain)
const step = fc.oneof(
  fc.record(
    { op: fc.constant('activity' as const), references, type, due_at, completed: fc.boolean() },
    plain,
  ),
  fc.record({ op: fc.constant('deal' as const), references, stage, value }, plain),
  fc.record(
    { op: fc.constant('move' as const), kind: fc.constantFrom('activities', 'deals'), at: nat, references },
    plain,
  ),
  fc.record({ op: fc.constant('due' as const), at: nat, due_at, type }, plain),
  fc.record({ op: fc.constantFrom('complete' as const, 'reopen' as const), at: nat }, plain),
  fc.record({ op: fc.constant('value' as const), at: nat, value }, plain),
  fc.record({ op: fc.constant('stage' as const), at: nat, stage }, plain),
  fc.record(
    {
      op: fc.constantFrom('delete' as const, 'restore' as const),
      kind: fc.constantFrom('activities', 'deals', 'contacts', 'companies'),
      at: nat,
    },
    plain,
  ),
  fc.record(
    {
      op: fc.constant('merge' as const),
      kind: fc.constantFrom('contacts', 'companies'),
      at: nat,
      other: nat,
    },
    plain,
  ),
  fc.record({ op: fc.constant('undo' as const), at: nat }, plain),
  fc.record({ op: fc.constant('batch' as const), references, due_at, value }, plain),
  fc.record({ op: fc.constant('erase' as const), at: nat }, plain),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Runs steps in a workspace of their own. A step that the service refuses changes nothing. */
async function runSteps(call: Call, steps: readonly Step[]): Promise<void> {
  const ids: Record<string, number[]> = { contacts: [], companies: [], activities: [], deals: [], merges: [] }
  const pick = (kind: string, at: number | null) => {
    const known = ids[kind] ?? []
    return at === null || !known.length ? null : (known[at % known.length] as number)
  }
  const make = async (kind: string, body: object) => {
    const reply = await call('POST', `/api/v1/${kind}`, body)
    if (reply.status === 201) ids[kind]?.push(reply.body.data.id)
  }
  const refer = ({ contact, company }: { contact: number | null; company: number | null }) => ({
    contact_id: pick('contacts', contact),
    company_id: pick('companies', company),
  })
  for (const n of [1, 2, 3]) await make('contacts', { first_name: 'Ana', last_name: String(n) })
  for (const n of [1, 2]) await make('companies', { name: `Acme ${n}` })
  for (const one of steps) {
    const at = (kind: string) => `/api/v1/${kind}/${'at' in one ? pick(kind, one.at) : ''}`
    if (one.op === 'activity') {
      const { type, due_at } = one
      await make('activities', { subject: 'Talk', type, due_at, ...refer(one.references) })
      if (one.completed) await call('POST', `/api/v1/activities/${ids.activities?.at(-1)}/complete`)
    }
    if (one.op === 'deal') {
      await make('deals', { name: 'Deal', stage: one.stage, value: one.value, ...refer(one.references) })
    }
    if (one.op === 'move') await call('PUT', at(one.kind), refer(one.references))
    if (one.op === 'due') await call('PUT', at('activities'), { due_at: one.due_at, type: one.type })
    if (one.op === 'complete' || one.op === 'reopen') await call('POST', `${at('activities')}/${one.op}`)
    if (one.op === 'value') await call('PUT', at('deals'), { value: one.value })
    if (one.op === 'stage')
      await call('POST', `${at('deals')}/change-stage`, {
        stage: one.stage,
        ...(one.stage === 'lost' && { lost_reason: 'Price' }),
      })
    if (one.op === 'delete') await call('DELETE', at(one.kind))
    if (one.op === 'restore') await call('POST', `${at(one.kind)}/restore`)
    if (one.op === 'merge') {
      const body = { from_ids: [pick(one.kind, one.other)] }
      const reply = await call('POST', `${at(one.kind)}/merge`, body)
      if (reply.status === 200) ids.merges?.push(reply.body.meta.merge_id)
    }
    if (one.op === 'undo') await call('POST', `${at('merges')}/undo`)
    if (one.op === 'erase') await call('POST', `${at('contacts')}/erase`)
    if (one.op === 'batch') {
      const { references, due_at, value } = one
      const create = (data: object) => ({ op: 'create', data: { ...data, ...refer(references) } })
      await call('POST', '/api/v1/activities/batch', {
        items: [create({ subject: 'One', type: 'call', due_at }), create({ subject: 'Two', due_at })],
      })
      await call('POST', '/api/v1/deals/batch', {
        items: [create({ name: 'A', value }), create({ name: 'B', value })],
      })
    }
  }
}

test('after any operations, the fields are what activities and deals say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      await runSteps(await newWorkspace(rapport), steps)
      await assertKept()
    }),
    { numRuns: runs(24) },
  )
})

test('writes at the same time are all counted', async () => {
  const call = await newWorkspace(rapport)
  const contact = dataOf(
    await call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' }),
    201,
  )
  const company = dataOf(await call('POST', '/api/v1/companies', { name: 'Acme' }), 201)
  const refers = { contact_id: contact.id, company_id: company.id }
  const activities = await Promise.all(
    Array.from({ length: 12 }, (_, n) => {
      const due_at = `2026-12-${String(n + 10)}T09:00:00.000Z`
      return call('POST', '/api/v1/activities', { subject: 'Call', type: 'call', due_at, ...refers })
    }),
  )
  await Promise.all([
    ...activities.map((reply, n) =>
      n % 2
        ? call('POST', `/api/v1/activities/${dataOf(reply, 201).id}/complete`)
        : call('DELETE', `/api/v1/activities/${dataOf(reply, 201).id}`),
    ),
    ...Array.from({ length: 12 }, (_, n) =>
      call('POST', '/api/v1/deals', { name: 'Deal', value: n + 0.5, ...refers }),
    ),
    call('POST', '/api/v1/activities', { subject: 'Last', due_at: '2027-01-01T00:00:00.000Z', ...refers }),
  ])
  await assertKept()
  const { data } = (await call('GET', `/api/v1/contacts/${contact.id}`)).body
  assert.deepEqual([data.open_deals_value, data.next_activity_at], [72, '2027-01-01T00:00:00.000Z'])
  assert.ok(data.last_contacted_at)
})

test('batches that name the same records in different orders do not lock each other out', async () => {
  const call = await newWorkspace(rapport)
  const records = async (kind: string, body: object) =>
    Promise.all(
      Array.from({ length: 20 }, async () => {
        const made = await unlessBusy(() => call('POST', `/api/v1/${kind}`, body))
        return dataOf(made, 201).id
      }),
    )
  const contacts = await records('contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const companies = await records('companies', { name: 'Acme' })
  const due_at = '2026-12-01T09:00:00.000Z'
  for (const [kind, data] of [
    ['deals', { name: 'Deal', value: 5 }],
    ['activities', { subject: 'Call', due_at }],
  ] as const) {
    // Steps without a factor of 20, so that each batch has an order of its own.
    const batches = [1, 3, 7, 9, 11, 13, 17, 19].map((step, batch) =>
      Array.from({ length: 60 }, (_, n) => {
        const contact_id = contacts[(n * step + batch) % 20]
        const company_id = companies[(n * step * 7 + 3 * batch) % 20]
        return { op: 'create', data: { ...data, contact_id, company_id } }
      }),
    )
    const replies = await Promise.all(
      batches.map((items) => call('POST', `/api/v1/${kind}/batch`, { items })),
    )
    for (const { status, text } of replies) assert.equal(status, 200, text)
  }
  await assertKept()
})

test('lists show, sort and filter by the fields, and bodies cannot set them', async () => {
  const call = await newWorkspace(rapport)
  const make = async (last_name: string) =>
    dataOf(
      await call('POST', '/api/v1/contacts', {
        first_name: 'Ana',
        last_name,
        open_deals_value: 5,
        next_activity_at: 'x',
      }),
      201,
    )
  const [none, small, large] = [await make('None'), await make('Small'), await make('Large')]
  assert.deepEqual([none.open_deals_value, none.next_activity_at, none.last_contacted_at], [0, null, null])
  const deal = (contact_id: number, value: number) =>
    call('POST', '/api/v1/deals', { name: 'Deal', value, contact_id })
  await deal(small.id, 10.5)
  await deal(large.id, 100)
  await deal(large.id, 0.25)
  await call('POST', '/api/v1/activities', {
    subject: 'Call',
    due_at: '2026-12-01T09:00:00.000Z',
    contact_id: small.id,
  })
  const ids = async (query: string) => {
    const reply = await call('GET', `/api/v1/contacts?${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.map(({ id }: { id: number }) => id)
  }
  assert.deepEqual(await ids('sort=-open_deals_value'), [large.id, small.id, none.id])
  assert.deepEqual(await ids('sort=next_activity_at'), [small.id, none.id, large.id])
  assert.deepEqual(await ids('open_deals_value_from=11'), [large.id])
  assert.deepEqual(await ids('next_activity_at=!null'), [small.id])
  assert.deepEqual(await ids('last_contacted_at=null&sort=id'), [none.id, small.id, large.id])
  const [listed] = (await call('GET', '/api/v1/contacts?sort=-open_deals_value')).body.data
  assert.equal(listed.open_deals_value, 100.25)
  const file = await call('GET', '/api/v1/contacts/export?sort=-open_deals_value')
  assert.match(file.text.split('\n')[0] ?? '', /last_contacted_at,next_activity_at,open_deals_value/)
  const changed = await call('PUT', `/api/v1/contacts/${large.id}`, {
    last_name: 'Larger',
    open_deals_value: 1,
  })
  assert.equal(dataOf(changed, 200).open_deals_value, 100.25)
})

test('the highest values of deals add up to a sum that is shown, sorted by and paged through', async () => {
  const call = await newWorkspace(rapport)
  const value = 99_999_999_999.9999
  const ids: number[] = []
  for (const name of ['One', 'Two', 'Three'])
    ids.push(dataOf(await call('POST', '/api/v1/companies', { name }), 201).id)
  const [one, two, three] = ids
  const deal = (company_id: number | undefined) => ({
    op: 'create',
    data: { name: 'Deal', value, company_id },
  })
  const items = Array.from({ length: 24 }, (_, n) => deal(n % 2 ? one : two))
  const batch = await call('POST', '/api/v1/deals/batch', { items: [...items, deal(three)] })
  assert.equal(batch.status, 200, batch.text)
  const shown = dataOf(await call('GET', `/api/v1/companies/${one}`), 200)
  assert.ok(Math.abs(shown.open_deals_value - 12 * value) < 0.001, String(shown.open_deals_value))
  for (const [sort, wanted] of [
    ['-open_deals_value', [two, one, three]],
    ['open_deals_value', [three, one, two]],
  ] as const) {
    const found: number[] = []
    for (let cursor: string | null = 'start'; cursor !== null && found.length < 9; ) {
      const path: string = `/api/v1/companies?sort=${sort}&per_page=1&cursor=${encodeURIComponent(cursor)}`
      const { body, text } = await call('GET', path)
      assert.ok(body.success, text)
      found.push(body.data[0].id)
      cursor = body.meta.next_cursor
    }
    assert.deepEqual(found, wanted)
  }
  assert.equal((await call('DELETE', `/api/v1/companies/${one}`)).status, 200)
})
