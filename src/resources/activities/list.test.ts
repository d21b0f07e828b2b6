// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { dataOf, problems, refused } from '../../../test/envelope.ts'
import { type Rapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)

type Call = Rapport['call']
const path = '/api/v1/activities'
const iso = (ms: number) => new Date(ms).toISOString()
const hour = 3_600_000

const made = async (call: Call, resource: string, body: object) =>
  dataOf(await call('POST', `/api/v1/${resource}`, body), 201)
async function listed(call: Call, query: string) {
  const reply = await call('GET', `${path}?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const subjects = async (call: Call, query: string) =>
  (await listed(call, query)).data.map(({ subject }: { subject: string }) => subject)

test('the list view is the detail view without the body, newest first', async () => {
  const call = await newWorkspace(rapport)
  const contact_id = (await made(call, 'contacts', { first_name: 'Ada', last_name: 'Okafor' })).id
  const first = await made(call, 'activities', { subject: 'First', type: 'call', body: 'Long', contact_id })
  const second = await made(call, 'activities', { subject: 'Second', completed_at: iso(clock.now()) })
  const { data, meta } = await listed(call, '')
  const shown = [second, first].map(({ body: _, ...rest }) => rest)
  assert.deepEqual(data, shown)
  assert.deepEqual(Object.keys(data[0]).sort(), Object.keys(shown[0] as object).sort())
  assert.deepEqual(meta, { current_page: 1, last_page: 1, per_page: 25, total: 2 })
})

test('with details=true each activity has the names of what it refers to; without, exactly the list view', async () => {
  const call = await newWorkspace(rapport)
  const person = { first_name: 'Ada', last_name: 'Okafor' }
  const contact = { id: (await made(call, 'contacts', person)).id, ...person }
  const company = { id: (await made(call, 'companies', { name: 'Acme' })).id, name: 'Acme' }
  const deal = { id: (await made(call, 'deals', { name: 'Pumps' })).id, name: 'Pumps' }
  const gone = await made(call, 'companies', { name: 'Gone' })
  const all = { contact_id: contact.id, company_id: company.id, deal_id: deal.id }
  await made(call, 'activities', { subject: 'About all', ...all })
  await made(call, 'activities', { subject: 'About none' })
  await made(call, 'activities', { subject: 'About what is gone', company_id: gone.id })
  assert.equal((await call('DELETE', `/api/v1/companies/${gone.id}`)).status, 200)

  const plain = (await listed(call, 'sort=id')).data
  const none = { contact: null, company: null, deal: null }
  const named = [{ contact, company, deal }, none, none].map((names, at) => ({ ...plain[at], ...names }))
  assert.deepEqual((await listed(call, 'details=true&sort=id')).data, named)
  assert.deepEqual(
    (await listed(call, 'details=true&per_page=2&cursor=start')).data,
    named.toReversed().slice(0, 2),
  )
  assert.deepEqual((await listed(call, 'details=false&sort=id')).data, plain)
  assert.equal((await call('GET', `${path}?details=yes`)).status, 422)
})

test('overdue is what is open and was due before now, by the clock of the service', async () => {
  const call = await newWorkspace(rapport)
  const now = clock.now()
  await made(call, 'activities', { subject: 'no date' })
  await made(call, 'activities', { subject: 'done late', due_at: iso(now - hour), completed_at: iso(now) })
  await made(call, 'activities', { subject: 'late', due_at: iso(now - 1) })
  await made(call, 'activities', { subject: 'now', due_at: iso(now) })
  await made(call, 'activities', { subject: 'later', due_at: iso(now + hour) })
  assert.deepEqual(await subjects(call, 'status=overdue'), ['late'])
  assert.deepEqual(await subjects(call, 'status=open'), ['later', 'now', 'late', 'no date'])
  assert.deepEqual(await subjects(call, 'status=completed'), ['done late'])
  clock.advance(1)
  assert.deepEqual(await subjects(call, 'status=overdue'), ['now', 'late'])
  clock.advance(hour)
  assert.deepEqual(await subjects(call, 'status=overdue&sort=due_at'), ['late', 'now', 'later'])
})

test('sorted by due date, what has none comes after every date; backwards before; ids end the order', async () => {
  const call = await newWorkspace(rapport)
  const dates = {
    b: '2026-12-01T00:00:00Z',
    a: '0001-01-01T00:00:00Z',
    none: null,
    z: '9999-12-31T23:59:59.999Z',
  }
  for (const [subject, due_at] of Object.entries(dates)) await made(call, 'activities', { subject, due_at })
  await made(call, 'activities', { subject: 'b2', due_at: dates.b })
  const order = ['a', 'b', 'b2', 'z', 'none']
  assert.deepEqual(await subjects(call, 'sort=due_at'), order)
  assert.deepEqual(await subjects(call, 'sort=-due_at'), order.toReversed())
  assert.deepEqual(await subjects(call, 'sort=due_at&status=open'), order)
  // By cursor, one by one.
  const found: string[] = []
  let cursor: string | null = 'start'
  while (cursor !== null) {
    const { data, meta } = await listed(call, `sort=due_at&per_page=1&cursor=${cursor}`)
    found.push(data[0].subject)
    cursor = meta.next_cursor
  }
  assert.deepEqual(found, order)
})

test('a due range is inclusive, takes any offset, and never holds what has no due date', async () => {
  const call = await newWorkspace(rapport)
  for (const [subject, due_at] of Object.entries({
    early: '2026-11-24T08:59:59.999Z',
    first: '2026-11-24T09:00:00Z',
    last: '2026-11-24T10:00:00.000Z',
    late: '2026-11-24T10:00:00.001Z',
    none: null,
  }))
    await made(call, 'activities', { subject, due_at })
  const [from, to] = ['2026-11-24T10:00:00%2B01:00', '2026-11-24T00:00:00-10:00']
  assert.deepEqual(await subjects(call, `due_from=${from}&due_to=${to}`), ['last', 'first'])
  assert.deepEqual(await subjects(call, `due_from=${from}&sort=due_at`), ['first', 'last', 'late'])
  assert.deepEqual(await subjects(call, `due_to=${to}&sort=-due_at`), ['last', 'first', 'early'])
  assert.deepEqual(await subjects(call, 'due_from=2027-01-01T00:00:00Z'), [])
  assert.deepEqual(await subjects(call, `due_from=${to}&due_to=${from}`), [])
})

test('a filter by a record in the trash, an unknown one or another workspace’s matches nothing', async () => {
  const call = await newWorkspace(rapport)
  const other = await newWorkspace(rapport)
  const targets = {
    contact_id: ['contacts', { first_name: 'A', last_name: 'O' }],
    company_id: ['companies', { name: 'Acme' }],
    deal_id: ['deals', { name: 'Relaunch' }],
  } as const
  for (const [link, [resource, body]] of Object.entries(targets)) {
    const { id } = await made(call, resource, body)
    await made(call, 'activities', { subject: link, [link]: id })
    const total = async (caller: Call, query: string) => (await listed(caller, query)).meta.total
    assert.equal(await total(call, `${link}=${id}`), 1)
    assert.equal(await total(other, `${link}=${id}`), 0)
    assert.equal(await total(call, `${link}=999999`), 0)
    await call('DELETE', `/api/v1/${resource}/${id}`)
    assert.equal(await total(call, `${link}=${id}`), 0)
    assert.deepEqual((await listed(call, `${link}=${id}&cursor=start`)).meta, {
      per_page: 25,
      next_cursor: null,
    })
    assert.equal((await listed(call, `page=1`)).data[0][link], null)
    await call('POST', `/api/v1/${resource}/${id}/restore`)
    assert.equal(await total(call, `${link}=${id}`), 1)
  }
})

test('an unknown type, status, order or time is 422 and lists what works; an unknown parameter is 400', async () => {
  const reply = await rapport.call(
    'GET',
    `${path}?type=lunch&status=late&sort=outcome&due_from=today&deal_id=x`,
  )
  assert.deepEqual(problems(reply), {
    type: 'unknown_value',
    status: 'unknown_value',
    sort: 'unknown_value',
    due_from: 'invalid_format',
    deal_id: 'invalid_type',
  })
  const told = reply.body.error.fields.map(({ message }: { message: string }) => message).join()
  for (const name of ['call, email', 'open, completed, overdue', 'due_at, -due_at'])
    assert.ok(told.includes(name), told)
  refused(await rapport.call('GET', `${path}?overdue=true`), 400, 'bad_request')
})

type Known = {
  id: number
  type: string
  due_at: string | null
  completed_at: string | null
  company_id: number | null
  deleted: boolean
}
const types = ['call', 'task', 'other'] as const
const at = [-2 * hour, -1, 0, hour].map((ms) => iso(clock.now() + ms))
const time = fc.constantFrom(null, ...at)
const values = {
  type: fc.constantFrom(...types),
  due_at: time,
  completed_at: time,
  company: fc.constantFrom(null, 0, 1),
}
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constant('create' as const), values: fc.record(values) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('update' as const),
      which: fc.nat(9),
      values: fc.record(values, { requiredKeys: [] }),
    }),
  },
  fc.record({ act: fc.constantFrom('delete' as const, 'restore' as const), which: fc.nat(9) }),
)
const question = fc.record(
  {
    type: fc.constantFrom(...types),
    status: fc.constantFrom('open', 'completed', 'overdue'),
    company: fc.nat(1),
    due_from: fc.constantFrom(...at),
    due_to: fc.constantFrom(...at),
    sort: fc.constantFrom('due_at', '-due_at', 'id', '-created_at'),
  },
  { requiredKeys: [] },
)
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never

/** The expected list, computed from the created records. */
function expected(known: Known[], companies: number[], asked: Question, now: string): number[] {
  const { type, status, company, due_from = '', due_to = '~', sort = '-id' } = asked
  const due = ({ due_at }: Known) => due_at ?? '~'
  return known
    .filter((one) => !one.deleted && (!type || one.type === type))
    .filter((one) => company === undefined || one.company_id === companies[company])
    .filter((one) => status !== 'completed' || one.completed_at)
    .filter((one) => !(status === 'open' || status === 'overdue') || !one.completed_at)
    .filter((one) => status !== 'overdue' || due(one) < now)
    .filter((one) => (!asked.due_from && !asked.due_to) || one.due_at)
    .filter((one) => due(one) >= due_from && due(one) <= due_to)
    .sort(
      (a, b) =>
        (sort.endsWith('due_at') && due(a) !== due(b) ? (due(a) < due(b) ? -1 : 1) : a.id - b.id) *
        (sort.startsWith('-') ? -1 : 1),
    )
    .map(({ id }) => id)
}

test('after any changes every list shows what a plain look at all activities finds, with exact totals', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 14 }),
      fc.array(question, { minLength: 4, maxLength: 8 }),
      async (steps, questions) => {
        const call = await newWorkspace(rapport)
        const companies: number[] = []
        for (const name of ['A', 'B']) companies.push((await made(call, 'companies', { name })).id)
        const known: Known[] = []
        const bodyOf = ({ company, ...rest }: { company?: number | null }) =>
          company === undefined ? rest : { ...rest, company_id: company === null ? null : companies[company] }
        for (const one of steps) {
          if (one.act === 'create') {
            known.push({
              ...(await made(call, 'activities', { subject: 'A', ...bodyOf(one.values) })),
              deleted: false,
            })
            continue
          }
          const target = known[one.which % known.length]
          if (!target) continue
          const url = `${path}/${target.id}`
          if (one.act === 'restore') await call('POST', `${url}/restore`)
          if (one.act === 'delete') await call('DELETE', url)
          if (one.act !== 'update') target.deleted = one.act === 'delete'
          else if (!target.deleted)
            Object.assign(target, (await call('PUT', url, bodyOf(one.values))).body.data)
        }
        for (const asked of questions) {
          const { company, ...rest } = asked
          const query = new URLSearchParams(rest as Record<string, string>)
          if (company !== undefined) query.set('company_id', String(companies[company]))
          const ids = expected(known, companies, asked, iso(clock.now()))
          const { data, meta } = await listed(call, `${query}&per_page=3`)
          assert.deepEqual(
            [data.map(({ id }: Known) => id), meta.total],
            [ids.slice(0, 3), ids.length],
            String(query),
          )
          const second = await listed(call, `${query}&per_page=3&page=2`)
          assert.deepEqual(
            second.data.map(({ id }: Known) => id),
            ids.slice(3, 6),
          )
        }
      },
    ),
    { numRuns: runs(30) },
  )
})

test('the kept totals are exactly what the stored activities add up to', async () => {
  // After everything above, in all workspaces.
  const totals = await stored.rows(
    "SELECT workspace_id AS w, name, sum(n) AS n FROM record_counts WHERE name = 'activities' OR name LIKE 'activities.%' GROUP BY workspace_id, name HAVING sum(n) <> 0",
  )
  const counted = await stored.rows(
    "SELECT workspace_id AS w, 'activities' AS name, count(*) AS n FROM activities WHERE deleted_at IS NULL GROUP BY workspace_id",
  )
  for (const field of ['type', 'contact_id', 'company_id', 'deal_id'])
    counted.push(
      ...(await stored.rows(
        `SELECT workspace_id AS w, 'activities.${field}=' || ${field} AS name, count(*) AS n FROM activities
        WHERE deleted_at IS NULL AND ${field} IS NOT NULL GROUP BY workspace_id, ${field}`,
      )),
    )
  const texts = (rows: typeof totals) => rows.map(({ w, name, n }) => `${w} ${name} ${n}`).sort()
  assert.deepEqual(texts(totals), texts(counted))
  assert.ok(counted.length > 20)
})
