// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace } from '../../../test/database.ts'
import { problems, refused } from '../../../test/envelope.ts'
import { useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'
import { type Browser, join, setUp } from '../../../test/people.ts'
import { runs } from '../../../test/quick.ts'
import { before } from '../../../test/use.ts'

const rapport = useRapport()
let ada: Browser
let grace_id: string
let ada_id: string
before(async () => {
  ada = await setUp(rapport)
  ada_id = (await ok('GET', '/session')).data.user.id
  grace_id = (await join(ada, rapport.url, 'member')).id
  await fill()
})

const ok = async (method: string, path: string, body?: object) => {
  const reply = await ada(method, path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body
}
type Item = { id: number; value: number | null }
type Group = {
  value: string | null
  count: number
  sums?: { value: number }
  filter: Record<string, string>
}
type Groups = { by: string; count: number; groups: Group[]; more: boolean }
const groups = async (kind: string, query: string): Promise<Groups> =>
  (await ok('GET', `/${kind}/groups?${query}`)).data
const values = ({ groups }: Groups) => groups.map(({ value, count }) => [value, count])

/** Records with every value, also none, a comma and an exclamation mark, and times around the ends of months. */
async function fill() {
  const owners = [ada_id, grace_id, null]
  const stages = ['lost', 'new_lead', 'won', 'demo', 'new_lead']
  const contact_stages = ['lead', 'won, then lost', '!important', null, 'a\\,b', 'null']
  const times = [
    '2026-10-31T22:59:59.999Z',
    '2026-10-31T23:00:00.000Z',
    '2026-11-30T23:30:00.000Z',
    null,
    '2026-03-31T21:59:59.999Z',
    '2026-03-31T22:00:00.000Z',
    '2026-12-31T08:00:00.000Z',
    '0001-01-01T03:00:00.000Z',
    '9999-12-31T23:30:00.000Z',
  ]
  const days = ['2026-11-01', '2026-11-30', null, '2026-12-01', '2027-02-28']
  for (let n = 0; n < 30; n++) {
    const shared = { owner_id: owners[n % 3], tags: n % 4 ? ['odd'] : [] }
    const name = `Ana ${n}`
    const worth = [0.0001, null, 12_500.5, 99_999_999_999.9999][n % 4]
    await ok('POST', '/companies', { name, industry: n % 2 ? 'Optics' : null, ...shared })
    await ok('POST', '/contacts', {
      first_name: 'Ana',
      last_name: name,
      stage: contact_stages[n % 6],
      ...shared,
    })
    await ok('POST', '/deals', {
      name,
      value: worth,
      stage: stages[n % 5],
      expected_close_date: days[n % 5],
      ...shared,
      priority: n % 3 ? 'high' : null,
    })
    await ok('POST', '/activities', {
      subject: name,
      type: ['call', 'task'][n % 2],
      due_at: times[n % 9],
      ...shared,
      completed_at: n % 7 ? null : '2026-11-02T08:00:00Z',
    })
  }
  const { data } = await ok('POST', '/deals', { name: 'In the trash', value: 7, stage: 'demo' })
  await ok('DELETE', `/deals/${data.id}`)
}

test('deals are grouped by stage in the order of the stages, with exact sums', async () => {
  const answer = await groups('deals', 'by=stage&priority=high')
  assert.deepEqual(
    answer.groups.map(({ value, count, filter }) => [value, count, filter]),
    [
      ['new_lead', 8, { stage: 'new_lead' }],
      ['demo', 4, { stage: 'demo' }],
      ['won', 4, { stage: 'won' }],
      ['lost', 4, { stage: 'lost' }],
    ],
  )
  const { data } = await ok('GET', '/deals?stage=won&priority=high')
  const units = data.reduce(
    (sum: bigint, { value }: Item) => sum + BigInt(Math.round((value ?? 0) * 10_000)),
    0n,
  )
  assert.equal(answer.groups[2]?.sums?.value, Number(units) / 10_000)
  assert.deepEqual([answer.by, answer.more], ['stage', false])
})

test('months of days are those of the calendar, and the records without a date come last', async () => {
  const answer = await groups('deals', 'by=expected_close_date&time_zone=America/New_York')
  assert.deepEqual(values(answer), [
    ['2026-11', 12],
    ['2026-12', 6],
    ['2027-02', 6],
    [null, 6],
  ])
  assert.deepEqual(
    answer.groups.map(({ filter }) => Object.values(filter).join(' ')),
    ['2026-11-01 2026-11-30', '2026-12-01 2026-12-31', '2027-02-01 2027-02-28', 'null'],
  )
})

test('months of times begin at midnight of the time zone, on both sides of a clock change', async () => {
  const of = (time_zone: string) => groups('activities', `by=due_at&time_zone=${time_zone}`)
  const [early, late, none] = [
    ['0001-01', 3],
    ['9999-12', 3],
    [null, 3],
  ]
  assert.deepEqual(values(await of('UTC')), [
    early,
    ['2026-03', 6],
    ['2026-10', 8],
    ['2026-11', 4],
    ['2026-12', 3],
    late,
    none,
  ])
  const berlin = await of('Europe/Berlin')
  assert.deepEqual(values(berlin), [
    early,
    ['2026-03', 3],
    ['2026-04', 3],
    ['2026-10', 4],
    ['2026-11', 4],
    ['2026-12', 7],
    late,
    none,
  ])
  // With a filter, the records are read in another way. The day after the last time is not a month of its own.
  assert.deepEqual(
    values(await groups('activities', 'by=due_at&type=call,task&time_zone=Pacific/Kiritimati')).slice(-2),
    [late, none],
  )
  assert.deepEqual(berlin.groups[4]?.filter, {
    due_at_from: '2026-10-31T23:00:00.000Z',
    due_at_to: '2026-11-30T22:59:59.999Z',
  })
})

test('an answer has the 100 largest groups, or the latest months, and says that there are more', async () => {
  const call = await newWorkspace(rapport)
  const contacts = Array.from({ length: 103 }, (_, n) => ({
    op: 'create',
    data: { first_name: 'Ana', last_name: `Ruiz ${n}`, stage: `stage ${Math.min(n, 101)}` },
  }))
  const month = (n: number) =>
    `${2010 + Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}-15T08:00:00Z`
  const activities = Array.from({ length: 102 }, (_, n) => ({
    op: 'create',
    data: { type: 'call', subject: `Call ${n}`, due_at: n === 50 ? null : month(n) },
  }))
  for (const [kind, items] of Object.entries({ contacts, activities }))
    assert.equal((await call('POST', `/api/v1/${kind}/batch`, { items })).status, 200)
  const by_stage = (await call('GET', '/api/v1/contacts/groups?by=stage')).body.data as Groups
  assert.deepEqual([by_stage.groups.length, by_stage.more, by_stage.count], [100, true, 103])
  assert.deepEqual(by_stage.groups[0], { value: 'stage 101', count: 2, filter: { stage: 'stage 101' } })
  const by_month = (await call('GET', '/api/v1/activities/groups?by=due_at')).body.data as Groups
  assert.deepEqual([by_month.groups.length, by_month.more], [100, true])
  assert.deepEqual(by_month.groups.at(-1)?.value, null)
  assert.deepEqual(by_month.groups.at(-2)?.value, month(101).slice(0, 7))
  const later = await call('GET', '/api/v1/activities/groups?by=due_at&due_from=2011-01-01')
  assert.deepEqual([later.body.data.groups.length, later.body.data.more], [89, false])
})

test('the filter of a group finds its records also when the value is the text null', async () => {
  const call = await newWorkspace(rapport)
  const stages = [null, null, 'null', '\\null', '\\\\null']
  const items = stages.map((stage) => ({
    op: 'create',
    data: { first_name: 'Ana', last_name: 'Ruiz', stage },
  }))
  assert.equal((await call('POST', '/api/v1/contacts/batch', { items })).status, 200)
  const { groups } = (await call('GET', '/api/v1/contacts/groups?by=stage')).body.data as Groups
  assert.equal(groups.length, 4)
  for (const { value, filter } of groups) {
    const { data } = (await call('GET', `/api/v1/contacts?${new URLSearchParams(filter)}`)).body
    const wanted = stages.filter((stage) => stage === value)
    assert.deepEqual(
      data.map(({ stage }: { stage: string | null }) => stage),
      wanted,
    )
  }
})

test('groups need the scope of the list and stay in the workspace; an invalid parameter is an error', async () => {
  const reader = await makeKey(rapport, { scopes: ['contacts:read'] })
  assert.equal((await reader.call('GET', '/api/v1/contacts/groups?by=stage')).status, 200)
  refused(await reader.call('GET', '/api/v1/deals/groups?by=stage'), 403, 'forbidden')
  const other = await newWorkspace(rapport)
  assert.deepEqual((await other('GET', '/api/v1/deals/groups?by=stage')).body, {
    success: true,
    data: { by: 'stage', count: 0, groups: [], more: false },
  })
  assert.deepEqual(problems(await ada('GET', '/deals/groups')), { by: 'required' })
  assert.deepEqual(problems(await ada('GET', '/deals/groups?by=name')), { by: 'unknown_value' })
  assert.deepEqual(problems(await ada('GET', '/deals/groups?by=stage&stage=open&time_zone=Mars')), {
    stage: 'unknown_value',
  })
  assert.deepEqual(problems(await ada('GET', '/deals/groups?by=stage&time_zone=Mars')), {
    time_zone: 'unknown_time_zone',
  })
  refused(await ada('GET', '/deals/groups?by=stage&page=2'), 400, 'bad_request')
})

const owner = ['', 'owner_id=me', 'owner_id=null', 'owner_id=!me']
const shared = ['', 'tag=odd', 'tag=null', 'created_from=2026-01-01', 'search=ana 1']
const kinds: Record<string, { by: string[]; filters: string[][] }> = {
  companies: { by: ['owner_id', 'created_at'], filters: [owner, shared, ['', 'industry=Optics']] },
  contacts: {
    by: ['stage', 'owner_id', 'updated_at'],
    filters: [owner, shared, ['', 'stage=lead,\\!important', 'stage=!lead', 'stage=null,lead']],
  },
  deals: {
    by: ['stage', 'status', 'owner_id', 'expected_close_date', 'created_at'],
    filters: [
      owner,
      shared,
      ['', 'stage=!lost', 'status=open', 'stage=won&status=open'],
      ['', 'value_from=1', 'next_activity=null', 'furthest_stage=demo', 'priority=null'],
      [
        '',
        'expected_close_date=!null',
        'expected_close_from=2026-11-15',
        'expected_close_date_to=2027-02-01',
      ],
    ],
  },
  activities: {
    by: ['type', 'owner_id', 'due_at', 'created_at'],
    filters: [
      owner,
      shared,
      ['', 'status=open', 'status=completed', 'status=overdue,completed', 'status=!open'],
      ['', 'due_at=!null', 'due_from=2026-03-31T22:00:00Z&due_to=2026-11-05'],
    ],
  },
}
const asked = fc.constantFrom(...Object.keys(kinds)).chain((kind) => {
  const { by, filters } = kinds[kind] as (typeof kinds)[string]
  return fc.record({
    kind: fc.constant(kind),
    by: fc.constantFrom(...by),
    filters: fc.tuple(...filters.map((some) => fc.constantFrom(...some))),
    time_zone: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'America/St_Johns'),
  })
})

test('under any filters, groups add up to the list, and the filter of each finds exactly its records', async () => {
  const unitsOf = (rows: Item[]) =>
    rows.reduce((sum, { value }) => sum + BigInt(Math.round((value ?? 0) * 10_000)), 0n)
  const decimal = (units: bigint) => Number(`${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`)
  await fc.assert(
    fc.asyncProperty(asked, async ({ kind, by, filters, time_zone }) => {
      const query = new URLSearchParams(filters.filter(Boolean).join('&'))
      const list = async (more: object = {}) => {
        const parameters = new URLSearchParams([...query, ['per_page', '100']])
        for (const [name, value] of Object.entries(more)) parameters.set(name, value)
        const { data, meta } = await ok('GET', `/${kind}?${parameters}`)
        assert.equal(data.length, meta.total)
        return data as Item[]
      }
      const answer = await groups(
        kind,
        String(new URLSearchParams([...query, ['by', by], ['time_zone', time_zone]])),
      )
      const rows = await list()
      assert.equal(answer.count, rows.length)
      const found: number[] = []
      for (const { count, sums, filter } of answer.groups) {
        const own = await list(filter)
        assert.equal(own.length, count, JSON.stringify(filter))
        if (kind === 'deals') assert.equal(sums?.value, decimal(unitsOf(own)))
        else assert.equal(sums, undefined)
        found.push(...own.map(({ id }) => id))
      }
      const inOrder = (ids: number[]) => ids.toSorted((a, b) => a - b)
      assert.deepEqual(inOrder(found), inOrder(rows.map(({ id }) => id)))
    }),
    { numRuns: runs(25) },
  )
})
