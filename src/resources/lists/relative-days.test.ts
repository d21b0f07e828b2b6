// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf, problems } from '../../../test/envelope.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { setUp } from '../../../test/people.ts'
import { rangeOf } from '../../http/relative-days.ts'

// A Saturday. In Auckland it is Sunday already, in Honolulu still Friday.
const now = '2026-11-21T11:30:00.000Z'
const rapport = useRapport({ clock: turnableClock(Date.parse(now)) })

test('each word stands for its days, both included', () => {
  const days: Record<string, [from: string | undefined, to: string | undefined]> = {
    yesterday: ['2026-11-20', '2026-11-20'],
    today: ['2026-11-21', '2026-11-21'],
    tomorrow: ['2026-11-22', '2026-11-22'],
    last_week: ['2026-11-09', '2026-11-15'],
    this_week: ['2026-11-16', '2026-11-22'],
    next_week: ['2026-11-23', '2026-11-29'],
    last_month: ['2026-10-01', '2026-10-31'],
    this_month: ['2026-11-01', '2026-11-30'],
    next_month: ['2026-12-01', '2026-12-31'],
    last_quarter: ['2026-07-01', '2026-09-30'],
    this_quarter: ['2026-10-01', '2026-12-31'],
    next_quarter: ['2027-01-01', '2027-03-31'],
    last_year: ['2025-01-01', '2025-12-31'],
    this_year: ['2026-01-01', '2026-12-31'],
    next_year: ['2027-01-01', '2027-12-31'],
    last_7_days: ['2026-11-15', '2026-11-21'],
    last_30_days: ['2026-10-23', '2026-11-21'],
    next_1_days: ['2026-11-21', '2026-11-21'],
    next_14_days: ['2026-11-21', '2026-12-04'],
    more_than_30_days_ago: [undefined, '2026-10-21'],
    in_more_than_30_days: ['2026-12-22', undefined],
    overdue: [undefined, '2026-11-20'],
  }
  for (const [word, [from, to]] of Object.entries(days))
    assert.deepEqual(
      rangeOf(word, 'day', { now, time_zone: 'UTC' }),
      { ...(from && { from }), ...(to && { to }) },
      word,
    )
})

test('the days of times begin and end in the zone, also where the clock changes', () => {
  const at = { now: '2026-10-25T12:00:00.000Z', time_zone: 'Europe/Berlin' }
  assert.deepEqual(rangeOf('today', 'time', at), {
    from: '2026-10-24T22:00:00.000Z',
    to: '2026-10-25T22:59:59.999Z',
  })
  assert.deepEqual(rangeOf('overdue', 'time', at), { to: '2026-10-25T11:59:59.999Z' })
})

test('a list takes the words alone, beside other values, and after "not"', async () => {
  const call = await newWorkspace(rapport)
  const deal = async (name: string, expected_close_date: string | null, stage = 'proposal') =>
    dataOf(await call('POST', '/api/v1/deals', { name, expected_close_date, stage }), 201).id as number
  const past = await deal('Past', '2026-11-20')
  const won = await deal('Won', '2026-11-20', 'won')
  const today = await deal('Today', '2026-11-21')
  const later = await deal('Later', '2027-02-01')
  const open = await deal('Open', null)
  const ids = async (query: string) => {
    const reply = await call('GET', `/api/v1/deals?sort=id&${query}`)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.body.meta.total, reply.body.data.length, query)
    return reply.body.data.map(({ id }: { id: number }) => id)
  }
  for (const [query, found] of [
    ['expected_close_date=this_month', [past, won, today]],
    ['expected_close_date=!this_month', [later, open]],
    ['expected_close_date=today,next_year', [today, later]],
    ['expected_close_date=today,2026-11-20,null', [past, won, today, open]],
    ['expected_close_date=!this_month,!null', [later]],
    ['expected_close_date=overdue', [past]],
    ['expected_close_date=!overdue', [won, today, later, open]],
    ['expected_close_date=in_more_than_30_days', [later]],
    ['expected_close_date=this_month&time_zone=Pacific/Auckland', [past, won, today]],
    ['created_at=today', [past, won, today, later, open]],
    ['created_at=yesterday&time_zone=Pacific/Auckland', []],
    ['created_at=more_than_0_days_ago', []],
  ] as const) {
    assert.deepEqual(await ids(query), found, query)
    const all = await call('GET', `/api/v1/deals/groups?by=stage&${query}`)
    assert.equal(dataOf(all, 200).count, found.length, query)
  }
  const malformed = await call('GET', '/api/v1/deals?expected_close_date=this_moth&created_at=overdue')
  assert.deepEqual(problems(malformed), {
    expected_close_date: 'invalid_format',
    created_at: 'invalid_format',
  })
  assert.match(malformed.text, /or a word such as this_month/)
  const unknown = await call('GET', '/api/v1/deals?created_at=today&time_zone=Mars')
  assert.deepEqual(problems(unknown), { time_zone: 'unknown_time_zone' })
})

test('a date of a defined custom field takes the words; another text is compared as it is', async () => {
  const call = await newWorkspace(rapport)
  for (const field of [
    { resource: 'companies', key: 'renewal', label: 'Renewal', type: 'date' },
    { resource: 'companies', key: 'plan', label: 'Plan', type: 'text' },
  ])
    dataOf(await call('POST', '/api/v1/custom-fields', field), 201)
  const company = async (custom_fields: object) =>
    dataOf(await call('POST', '/api/v1/companies', { name: 'Acme', custom_fields }), 201).id as number
  const one = await company({ renewal: '2026-11-30', plan: 'this_month' })
  const other = await company({ renewal: '2026-12-01' })
  const ids = async (query: string) =>
    (await call('GET', `/api/v1/companies?${query}`)).body.data.map(({ id }: { id: number }) => id)
  assert.deepEqual(await ids('custom_fields[renewal]=this_month'), [one])
  assert.deepEqual(await ids('custom_fields[renewal]=!this_month'), [other])
  assert.deepEqual(await ids('custom_fields[renewal]=this_month,next_9999_days'), [other, one])
  assert.deepEqual(await ids('custom_fields[renewal]=!this_month,!null'), [other])
  assert.deepEqual(await ids('custom_fields[plan]=this_month'), [one])
})

test('the words follow the zone of the person, and a view keeps them as they are', async () => {
  const ada = await setUp(rapport, { time_zone: 'Pacific/Auckland' })
  const due = async (due_at: string) =>
    dataOf(await ada('POST', '/activities', { subject: 'Call', due_at }), 201).id as number
  const sunday = await due('2026-11-21T11:00:00.000Z')
  await due('2026-11-21T10:59:59.000Z')
  const query = 'due_at=today'
  const view = dataOf(await ada('POST', '/views', { list: 'activities', name: 'Today', query }), 201)
  assert.equal(view.query, query)
  const found = await ada('GET', `/activities?${view.query}&time_zone=UTC`)
  assert.deepEqual(
    found.body.data.map(({ id }: { id: number }) => id),
    [sunday],
  )
  assert.equal((await ada('GET', '/activities?due_at=overdue')).body.meta.total, 2)
})
