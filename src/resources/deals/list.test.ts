// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'
import { type Stage, stages, statusOf } from './stages.ts'

const rapport = useRapport()
const stored = useStored(rapport)

const path = '/api/v1/deals'
type Listed = {
  id: number
  stage: string
  status: string
  contact_id: number | null
  company_id: number | null
}

const made = async (resource: string, body: object): Promise<number> =>
  dataOf(await rapport.call('POST', `/api/v1/${resource}`, body), 201).id
const company = () => made('companies', { name: 'Acme' })

test('an unknown stage or status is 422 and lists what exists, an unknown parameter is 400', async () => {
  const reply = await rapport.call('GET', `${path}?stage=sold&status=closed`)
  assert.equal(reply.status, 422)
  const told = reply.body.error.fields.map(({ field, code, message }: Record<string, string>) => [
    field,
    code,
    message,
  ])
  assert.deepEqual(told, [
    ['stage', 'unknown_value', `stage must be one of ${stages.join(', ')}.`],
    ['status', 'unknown_value', 'status must be one of open, won, lost.'],
  ])
  for (const query of [
    'status=',
    'stage=won&stage=lost',
    'contact_id=x',
    'company_id=1.5',
    'page=0',
    'per_page=-1',
  ])
    assert.equal((await rapport.call('GET', `${path}?${query}`)).status, 422, query)
  assert.equal((await rapport.call('GET', `${path}?probabilty=1`)).status, 400)
  assert.equal((await rapport.call('GET', `${path}?stage=`)).body.error.fields[0].code, 'unknown_value')
})

test('pages are newest first, per_page stops at 100, and a page past the end is empty with the true total', async () => {
  const company_id = await company()
  const ids = await Promise.all(
    Array.from({ length: 7 }, (_, n) => made('deals', { name: `Deal ${n}`, company_id })),
  )
  ids.sort((a, b) => b - a)
  const list = async (query: string) => {
    const { body } = await rapport.call('GET', `${path}?company_id=${company_id}${query}`)
    return [body.data.map(({ id }: Listed) => id), Object.values(body.meta)]
  }
  assert.deepEqual(await list('&per_page=3'), [ids.slice(0, 3), [1, 3, 3, 7]])
  assert.deepEqual(await list('&per_page=3&page=3'), [ids.slice(6), [3, 3, 3, 7]])
  assert.deepEqual(await list('&per_page=3&page=4'), [[], [4, 3, 3, 7]])
  assert.deepEqual(await list(`&page=${Number.MAX_SAFE_INTEGER}`), [[], [Number.MAX_SAFE_INTEGER, 1, 25, 7]])
  assert.deepEqual(await list('&per_page=1000&status=open'), [ids, [1, 1, 100, 7]])
  assert.deepEqual(await list('&status=won'), [[], [1, 1, 25, 0]])
})

type References = { contact_id: number | null; company_id: number | null }
type Step =
  | ({ do: 'create'; stage: Stage } & References)
  | ({ do: 'change'; stage: Stage; of: number } & References)
  | { do: 'delete' | 'restore'; of: number }
  | { do: 'trash' | 'untrash'; kind: 'contacts' | 'companies'; id: number }

// Each run has a workspace with two contacts and two companies; 0 and 1 stand for their ids until it runs.
const stage = fc.constantFrom(...stages)
const which = fc.constantFrom(null, 0, 1)
const references = { contact_id: which, company_id: which }
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('create' as const), stage, ...references }),
  fc.record({ do: fc.constant('change' as const), stage, of: fc.nat(5), ...references }),
  fc.record({ do: fc.constantFrom('delete' as const, 'restore' as const), of: fc.nat(5) }),
  fc.record({
    do: fc.constantFrom('trash' as const, 'untrash' as const),
    kind: fc.constantFrom('contacts' as const, 'companies' as const),
    id: fc.nat(1),
  }),
)
const filter = fc.record(
  { stage, status: fc.constantFrom('open', 'won', 'lost'), contact_id: fc.nat(1), company_id: fc.nat(1) },
  { requiredKeys: [] },
)
const tables = { contact_id: 'contacts', company_id: 'companies' } as const
const reference_names = ['contact_id', 'company_id'] as const

test('total and pages agree with a plain model under random writes, for every combination of filters', async () => {
  const run = async (steps: Step[], filters: Record<string, string | number>[], per_page: number) => {
    const call = await newWorkspace(rapport)
    const ids: Record<'contacts' | 'companies', number[]> = { contacts: [], companies: [] }
    for (const name of ['Acme', 'Globex']) {
      const person = await call('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: name })
      ids.contacts.push(person.body.data.id)
      ids.companies.push((await call('POST', '/api/v1/companies', { name })).body.data.id)
    }
    const trash = new Set<string>()
    const inTrash = (name: (typeof reference_names)[number], id: number | null) =>
      trash.has(`${tables[name]}/${id}`)
    const real = ({ contact_id, company_id }: References): References => ({
      contact_id: contact_id === null ? null : (ids.contacts[contact_id] ?? null),
      company_id: company_id === null ? null : (ids.companies[company_id] ?? null),
    })

    const deals: ({ id: number; stage: Stage; live: boolean } & References)[] = []
    for (const one of steps) {
      const deal = 'of' in one ? deals[one.of] : undefined
      if (one.do === 'create') {
        const sent = { stage: one.stage, ...real(one) }
        const { status, body } = await call('POST', path, { name: 'Model', ...sent })
        assert.equal(status, reference_names.some((name) => inTrash(name, sent[name])) ? 422 : 201)
        if (status === 201) deals.push({ id: body.data.id, live: true, ...sent })
      } else if (one.do === 'trash' || one.do === 'untrash') {
        const record = `${one.kind}/${ids[one.kind][one.id]}`
        if (one.do === 'trash') await call('DELETE', `/api/v1/${record}`)
        else await call('POST', `/api/v1/${record}/restore`)
        if (one.do === 'trash') trash.add(record)
        else trash.delete(record)
      } else if (deal && one.do === 'change') {
        const sent = real(one)
        const reason = one.stage === 'lost' && deal.stage !== 'lost' ? { lost_reason: 'Price' } : {}
        const { status } = await call('PUT', `${path}/${deal.id}`, { stage: one.stage, ...reason, ...sent })
        const bad = reference_names.some((name) => inTrash(name, sent[name]))
        assert.equal(status, !deal.live ? 404 : bad ? 422 : 200)
        if (status !== 200) continue
        deal.stage = one.stage
        // A reference into the trash shows null, so a null that is sent leaves it.
        for (const name of reference_names)
          if (sent[name] !== null || !inTrash(name, deal[name])) deal[name] = sent[name]
      } else if (deal) {
        const url = `${path}/${deal.id}`
        await (one.do === 'delete' ? call('DELETE', url) : call('POST', `${url}/restore`))
        deal.live = one.do === 'restore'
      }
    }

    const shown: Listed[] = deals
      .filter(({ live }) => live)
      .map(({ id, stage, contact_id, company_id }) => ({
        id,
        stage,
        status: statusOf(stage),
        contact_id: inTrash('contact_id', contact_id) ? null : contact_id,
        company_id: inTrash('company_id', company_id) ? null : company_id,
      }))
      .sort((a, b) => b.id - a.id)
    for (const one of [{}, ...filters]) {
      const wanted = Object.entries(one).map(([name, value]): [string, unknown] => {
        return [name, name in tables ? ids[tables[name as keyof typeof tables]][Number(value)] : value]
      })
      const query = wanted.map(([name, value]) => `&${name}=${value}`).join('')
      const expected = shown.filter((deal) =>
        wanted.every(([name, value]) => deal[name as keyof Listed] === value),
      )
      const found: Listed[] = []
      for (let page = 1, last = 1; page <= last; page++) {
        const { body } = await call('GET', `${path}?per_page=${per_page}&page=${page}${query}`)
        assert.equal(body.meta.total, expected.length, query)
        found.push(...body.data)
        last = body.meta.last_page
      }
      const told = found.map(({ id, stage, status, contact_id, company_id }) => ({
        id,
        stage,
        status,
        contact_id,
        company_id,
      }))
      assert.deepEqual(told, expected, query)
    }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 6, maxLength: 20 }),
      fc.array(filter, { minLength: 4, maxLength: 8 }),
      fc.integer({ min: 1, max: 5 }),
      run,
    ),
    { numRuns: runs(20) },
  )
})

test('the kept totals equal counted rows after everything above', async () => {
  const live = 'FROM deals WHERE deleted_at IS NULL'
  const counts = ['stage', 'status', 'contact_id', 'company_id'].map(
    (name) =>
      `SELECT workspace_id, 'deals.${name}=' || ${name}, count(*) ${live} AND ${name} IS NOT NULL GROUP BY 1, 2`,
  )
  const plain = `SELECT workspace_id, 'deals' AS name, count(*) AS n ${live} GROUP BY 1`
  const counted = await stored.rows(`${[plain, ...counts].join(' UNION ALL ')} ORDER BY 1, 2`)
  const kept = await stored.rows(
    `SELECT workspace_id, name, sum(n) AS n FROM record_counts WHERE name LIKE 'deals%'
      GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2`,
  )
  assert.ok(counted.length > 20)
  assert.deepEqual(kept, counted)
})
