// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { problems } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { join, useOwner } from '../people.ts'
import { runs } from '../quick.ts'
import { type Item, readerOf, written } from './filtered.ts'

// Every filter of every list, against a plain look at each record.

const rapport = useRapport()
const ada = useOwner(rapport)

const { ok, make, listed } = readerOf(() => ada)

const day = (n: number) => `2026-12-${String(n).padStart(2, '0')}`
const time = (n: number) => `${day(n)}T08:30:00.000Z`
const texts = [
  'lead',
  'Lead',
  'won, then lost',
  '!important',
  'a\\b',
  'größte',
  "O'Brien",
  '50%_off',
  'null-ish',
]

/** Forty records of each kind with hostile values, and what each shows. */
async function fill() {
  const grace = await join(ada, rapport.url, 'member')
  const companies: Item[] = []
  const text = (n: number) => (n % 4 ? texts[n % texts.length] : null)
  for (let n = 0; n < 8; n++) {
    const phone = n % 2 ? '+49 (30) 123-45.67' : null
    companies.push(
      await make('companies', { name: `Größe ${n}`, industry: text(n), phone, tags: [texts[n]] }),
    )
  }
  const of = <T>(list: readonly T[], n: number) => (n % 3 ? (list[n % list.length] as T) : null)
  const ids = (items: Item[]) => items.map(({ id }) => id as number)
  const owners = [(await ok('GET', '/session')).data.user.id, grace.id, null]
  const contacts: Item[] = []
  for (let n = 0; n < 40; n++) {
    const body = {
      first_name: 'Ana',
      last_name: `Ruiz ${n}`,
      stage: text(n),
      source: text(n + 1),
      email: n % 3 ? `Ana${n % 7}@ACME.example` : null,
      phone: of(['030/1234567', '030 1234567', '12'], n),
      company_id: of(ids(companies), n),
      owner_id: owners[n % 3],
      tags: texts.filter((_, at) => (at + n) % 5 === 0),
      custom_fields: n % 2 ? { region: text(n) ?? 'x', seats: n % 5 } : {},
    }
    contacts.push(await make('contacts', body))
  }
  const deals: Item[] = []
  const stages = ['new_lead', 'demo', 'proposal', 'won', 'lost']
  for (let n = 0; n < 40; n++) {
    const stage = stages[n % 4]
    const body = {
      name: `Deal ${n}`,
      value: of([0, 0.0001, 12_500.5, 753_505.2402], n),
      stage,
      probability: of([0, 55, 100], n),
      contact_id: of(ids(contacts), n),
      owner_id: owners[n % 3],
      company_id: of(ids(companies), n + 1),
      expected_close_date: n % 4 ? day((n % 28) + 1) : null,
      priority: text(n),
      source: text(n + 2),
      tags: [texts[n % 9]],
    }
    const deal = await make('deals', body)
    if (n % 9 === 4)
      await ok('POST', `/deals/${deal.id}/change-stage`, { stage: 'lost', lost_reason: 'Price' })
    deals.push(deal)
  }
  for (let n = 0; n < 40; n++) {
    await make('activities', {
      subject: `Call ${n}`,
      type: ['call', 'task', 'meeting'][n % 3],
      owner_id: owners[n % 3],
      due_at: n % 4 ? time((n % 28) + 1) : null,
      completed_at: n % 3 ? null : time((n % 20) + 1),
      contact_id: of(ids(contacts), n),
      deal_id: of(ids(deals), n),
      tags: [texts[n % 9]],
    })
    const start = (n % 27) + 1
    await make('appointments', {
      title: `Demo ${n}`,
      type: text(n),
      start_at: time(start),
      end_at: time(start + 1),
      contact_id: of(ids(contacts), n),
      owner_id: owners[n % 3],
    })
  }
  // References into the trash read null.
  for (const { id } of companies.slice(0, 2)) await ok('DELETE', `/companies/${id}`)
  for (const { id } of contacts.slice(10, 14)) await ok('DELETE', `/contacts/${id}`)
  for (const { id } of deals.slice(20, 23)) await ok('DELETE', `/deals/${id}`)
}

async function allOf(kind: string): Promise<Item[]> {
  const ids: number[] = []
  for (let page = 1; ; page++) {
    const { data, meta } = await ok('GET', `/${kind}?per_page=100&page=${page}`)
    ids.push(...data.map(({ id }: Item) => id))
    if (page >= meta.last_page) break
  }
  return Promise.all(ids.map(async (id) => (await ok('GET', `/${kind}/${id}`)).data))
}

type Form = 'value' | 'text' | 'number' | 'day' | 'time' | 'email' | 'phone' | 'tag' | 'custom'
const fields: Record<string, Record<string, Form>> = {
  contacts: {
    stage: 'text',
    source: 'text',
    company_id: 'value',
    owner_id: 'value',
    email: 'email',
    phone: 'phone',
    created_at: 'time',
    tag: 'tag',
    'custom_fields[region]': 'custom',
    'custom_fields[seats]': 'custom',
  },
  companies: { industry: 'text', owner_id: 'value', phone: 'phone', updated_at: 'time', tag: 'tag' },
  deals: {
    stage: 'value',
    status: 'value',
    contact_id: 'value',
    company_id: 'value',
    owner_id: 'value',
    value: 'number',
    probability: 'number',
    expected_close_date: 'day',
    closed_at: 'time',
    tag: 'tag',
    priority: 'text',
    source: 'text',
  },
  activities: {
    type: 'value',
    contact_id: 'value',
    deal_id: 'value',
    owner_id: 'value',
    tag: 'tag',
    due_at: 'time',
    completed_at: 'time',
  },
  appointments: {
    status: 'value',
    type: 'text',
    contact_id: 'value',
    owner_id: 'value',
    start_at: 'time',
    end_at: 'time',
  },
}

const digits = (phone: string) => phone.replaceAll(/[ \-()+./]/g, '')
/** The values of a record's field, as the filter compares them: the values, of which one may match. */
function valuesOf(item: Item, name: string, form: Form): unknown[] {
  const [, key] = /\[(.+)\]/.exec(name) ?? []
  const shown = key ? item.custom_fields[key] : form === 'tag' ? item.tags : item[name]
  const all = Array.isArray(shown) ? shown : [shown ?? null]
  return all.flatMap((one) => {
    if (one === null) return []
    if (form === 'email') return one.toLowerCase()
    return form === 'phone' ? digits(one) : form === 'custom' ? String(one) : one
  })
}

type Part = { value: number; negated: boolean; none: boolean }
type Asked = { name: string; form: Form; parts: Part[]; range: [number, number] | null }

test('every list finds exactly the records that meet its filters, alone and together, in total, pages and by cursor', async () => {
  await fill()
  for (const [kind, forms] of Object.entries(fields)) {
    const all = await allOf(kind)
    const known = Object.fromEntries(
      Object.entries(forms).map(([name, form]) => {
        const values = new Set(all.flatMap((item) => valuesOf(item, name, form)))
        return [name, [...values].sort() as (string | number)[]]
      }),
    )
    const names = Object.keys(forms).filter((name) => known[name]?.length)
    const part = fc.record({ value: fc.nat(50), negated: fc.boolean(), none: fc.boolean() })
    const asked = fc.constantFrom(...names).chain((name) =>
      fc.record({
        name: fc.constant(name),
        form: fc.constant(forms[name] as Form),
        parts: fc.array(part, { minLength: 1, maxLength: 3 }),
        range: fc.option(fc.tuple(fc.nat(50), fc.nat(50))),
      }),
    )
    const nullable = (name: string) =>
      !['created_at', 'updated_at', 'start_at', 'end_at', 'status', 'probability'].includes(name) &&
      !(kind === 'deals' && name === 'stage') &&
      !(kind === 'activities' && name === 'type')
    const run = async (list: Asked[]) => {
      const query = new URLSearchParams()
      const holds: ((item: Item) => boolean)[] = []
      for (const { name, form, parts, range } of list) {
        if (query.has(name) || query.has(`${name}_from`)) continue
        const values = known[name] as (string | number)[]
        const pick = (n: number) => values[n % values.length] as string | number
        if (range && ['number', 'day', 'time'].includes(form)) {
          const [from, to] = [pick(range[0]), pick(range[1])]
          query.set(`${name}_from`, String(from))
          if (range[0] % 2) query.set(`${name}_to`, String(to))
          holds.push((item) => {
            const [one] = valuesOf(item, name, form) as (string | number)[]
            return one !== undefined && one >= from && (!(range[0] % 2) || one <= to)
          })
          continue
        }
        const terms = parts.map(({ value, negated, none }) => {
          const is_null = none && nullable(name)
          return { negated, value: is_null ? null : pick(value) }
        })
        const shown = ({ negated, value }: (typeof terms)[number]) =>
          `${negated ? '!' : ''}${value === null ? 'null' : written(form === 'email' ? String(value).toUpperCase() : value)}`
        query.set(name, terms.map(shown).join(','))
        const meets = (item: Item, value: unknown) => {
          const own = valuesOf(item, name, form)
          return value === null ? own.length === 0 : own.includes(value)
        }
        holds.push((item) => {
          const wanted = terms.filter(({ negated }) => !negated)
          const refused = terms.filter(({ negated }) => negated)
          return (
            (!wanted.length || wanted.some(({ value }) => meets(item, value))) &&
            refused.every(({ value }) => !meets(item, value))
          )
        })
      }
      const expected = all.filter((item) => holds.every((hold) => hold(item))).map(({ id }) => id)
      assert.deepEqual(
        await listed(kind, String(query)),
        expected,
        `${kind}?${decodeURIComponent(String(query))}`,
      )
    }
    await fc.assert(fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 3 }), run), {
      numRuns: runs(60),
    })
  }
})

test('me is the person who asks; a key owns nothing', async () => {
  const mine = await ok('GET', '/contacts?owner_id=me')
  const { id } = (await ok('GET', '/session')).data.user
  assert.ok(mine.meta.total > 0)
  assert.deepEqual(await ok('GET', `/contacts?owner_id=${id}`), mine)
  const { body } = await rapport.call('GET', '/api/v1/contacts?owner_id=me')
  assert.deepEqual([body.data, body.meta.total], [[], 0])
  const all = (await ok('GET', '/contacts')).meta.total
  assert.equal((await rapport.call('GET', '/api/v1/contacts?owner_id=!me')).body.meta.total, all)
})

test('the short names of ranges stay, and ranges of both names apply together', async () => {
  const total = async (query: string) => (await ok('GET', query)).meta.total
  for (const [short, long] of [
    ['deals?expected_close_from=2026-12-10', 'deals?expected_close_date_from=2026-12-10'],
    ['activities?due_to=2026-12-10T08:30:00Z', 'activities?due_at_to=2026-12-10T08:30:00.000Z'],
    [
      'appointments?start_from=2026-12-10T08:30:00Z',
      'appointments?start_at_from=2026-12-10T09:30:00%2B01:00',
    ],
    ['contacts?created_to=2026-01-01T00:00:00Z', 'contacts?created_at_to=2026-01-01T00:00:00Z'],
  ] as const)
    assert.equal(await total(`/${short}`), await total(`/${long}`), short)
  const both = await total('/deals?expected_close_from=2026-12-10&expected_close_date_from=2026-12-20')
  assert.equal(both, await total('/deals?expected_close_date_from=2026-12-20'))
})

test('a range that begins below every value leaves out the records without one', async () => {
  const total = async (query: string) => (await ok('GET', `/deals?${query}`)).meta.total
  assert.ok((await total('value=null')) > 0)
  for (const from of ['-0.0001', '-1', '-99999999999'])
    assert.equal(await total(`value_from=${from}`), await total('value=!null'), from)
  assert.equal(await total('value_from=-5&value_to=-1'), 0)
})

test('an empty value is malformed for every field, but for texts where the base interface takes it', async () => {
  for (const query of [
    'contacts?phone=',
    'contacts?email=%20',
    'contacts?source=',
    'companies?industry=',
    'deals?priority=',
    'contacts?tag=',
    'contacts?email=a@b.example,',
    'contacts?stage=lead,',
    'contacts?email=!',
  ]) {
    const reply = await ada('GET', `/${query}`)
    assert.deepEqual(Object.values(problems(reply)), ['required'], query)
    assert.match(reply.text, /null for records without a value/)
  }
  for (const query of ['deals?stage=', 'deals?contact_id=', 'deals?value_from=', 'activities?due_at_to='])
    assert.equal((await ada('GET', `/${query}`)).status, 422, query)
  const { total } = (await ok('GET', '/contacts')).meta
  assert.equal((await ok('GET', '/contacts?stage=&search=')).meta.total, total)
  const empty = await make('companies', { name: 'Empty', custom_fields: { about: '' } })
  const [found, ...others] = (await ok('GET', '/companies?custom_fields[about]=')).data
  assert.deepEqual([found?.id, others.length], [empty.id, 0])
})
