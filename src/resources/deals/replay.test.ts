import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { type StoredEvent, useStored } from '../../../test/database.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { runs } from '../../../test/quick.ts'
import { before } from '../../../test/use.ts'
import { type Stage, stages, statusOf } from './stages.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const ids = { contacts: [] as number[], companies: [] as number[] }
before(async () => {
  for (const name of ['Acme', 'Globex']) {
    const person = await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ada', last_name: name })
    ids.contacts.push(person.body.data.id)
    ids.companies.push((await rapport.call('POST', '/api/v1/companies', { name })).body.data.id)
  }
})

const path = '/api/v1/deals'

/** A deal as a receiver of all its events knows it; `gone` while it is in the trash. */
type Known = { deal: Record<string, unknown>; gone: boolean }

/**
 * The state of a receiver after one more event. A stage change has no probability, so it is unknown until the next
 * event with one.
 */
function receive(
  known: Known | null,
  { event, timestamp, data, changed_fields, previous }: StoredEvent,
): Known {
  if (event === 'deal.created') {
    assert.equal(known, null)
    return { deal: data, gone: false }
  }
  assert.ok(known)
  const { deal } = known
  if (event === 'deal.deleted') {
    assert.deepEqual(known, { deal: withUnknown(data, deal), gone: false })
    return { deal, gone: true }
  }
  if (event === 'deal.updated') {
    // Only the named fields differ from the known state, and `previous` has their known values.
    for (const name of Object.keys(data)) {
      if (['updated_at', 'updated_by', 'contact', 'company'].includes(name) || deal[name] === undefined)
        continue
      const is_equal = isDeepStrictEqual(deal[name], data[name])
      assert.equal(changed_fields?.includes(name), !is_equal, name)
      if (!is_equal) assert.deepEqual(previous?.[name], deal[name])
    }
    assert.deepEqual(Object.keys(previous ?? {}), changed_fields)
    assert.equal(changed_fields?.includes('deleted_at'), known.gone)
    return { deal: data, gone: false }
  }
  if (event === 'deal.stage_changed') {
    const stage = data.new_stage as Stage
    const status = statusOf(stage)
    assert.notEqual(stage, data.previous_stage)
    // The event of a PUT had the whole record with the new stage.
    if (deal.stage === stage && deal.updated_at === timestamp) return known
    assert.equal(deal.stage, data.previous_stage)
    const moved = {
      stage,
      status,
      probability: undefined,
      lost_reason: null,
      closed_at: null,
      updated_at: timestamp,
    }
    return { deal: { ...deal, ...moved }, gone: false }
  }
  assert.equal(data.stage, deal.stage)
  assert.equal(event, `deal.${deal.stage}`)
  return { deal: { ...deal, ...data }, gone: false }
}

const withUnknown = (shown: Record<string, unknown>, deal: Record<string, unknown>) =>
  deal.probability === undefined ? { ...shown, probability: undefined } : shown

const text = fc.constantFrom(null, '', 'web', 'referral')
const ruled = {
  stage: fc.constantFrom(...stages),
  probability: fc.constantFrom(null, 0, 10, 40, 100),
  lost_reason: fc.constantFrom(null, 'Price', 'Timing'),
}
const fields = {
  name: fc.constantFrom('Relaunch', 'Renewal'),
  value: fc.constantFrom(null, 0, 0.1, 99_999_999_999.9999),
  contact_id: fc.constantFrom(null, 0, 1),
  company_id: fc.constantFrom(null, 0, 1),
  expected_close_date: fc.constantFrom(null, '2027-01-31'),
  priority: text,
  source: text,
}
const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('PUT'),
      body: fc.record({ ...ruled, ...fields }, { requiredKeys: [] }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change-stage'),
      body: fc.record(ruled, { requiredKeys: ['stage'] }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('DELETE', 'restore'), body: fc.constant(undefined) }),
  },
)
const creation = fc.record(
  { ...fields, stage: ruled.stage, probability: ruled.probability },
  { requiredKeys: ['name'] },
)

type Body = Record<string, unknown>
const real = (body: Body | undefined) =>
  body && {
    ...body,
    ...(typeof body.contact_id === 'number' && { contact_id: ids.contacts[body.contact_id] }),
    ...(typeof body.company_id === 'number' && { company_id: ids.companies[body.company_id] }),
  }

test('the events of any sequence of operations, replayed, give the deal as GET shows it after each', async () => {
  const seen = new Set<string>()
  const run = async (first: Body, operations: { do: string; body: Body | undefined }[]) => {
    const made = await rapport.call('POST', path, real(first))
    assert.equal(made.status, 201, made.text)
    const { id } = made.body.data
    let known: Known | null = null
    let received = 0
    for (const one of [null, ...operations]) {
      clock.advance(1000)
      if (one) {
        const [method, url] = ['PUT', 'DELETE'].includes(one.do) ? [one.do, ''] : ['POST', `/${one.do}`]
        const { status, text } = await rapport.call(method ?? '', `${path}/${id}${url}`, real(one.body))
        assert.ok([200, 404, 422].includes(status), text)
      }
      const events = await stored.events('deal', id)
      const fresh = events.slice(received)
      assert.equal(new Set(fresh.map(({ event }) => event)).size, fresh.length)
      for (const event of fresh) {
        known = receive(known, event)
        seen.add(event.event)
      }
      received = events.length
      const got = await rapport.call('GET', `${path}/${id}`)
      assert.equal(got.status, known?.gone ? 404 : 200)
      if (known && !known.gone) assert.deepEqual(known.deal, withUnknown(got.body.data, known.deal))
    }
  }
  await fc.assert(fc.asyncProperty(creation, fc.array(operation, { minLength: 4, maxLength: 12 }), run), {
    numRuns: runs(60),
  })
  assert.equal(seen.size, 6)
})

test('arbitrary JSON in any body of a deal is never a fault of the service', async () => {
  const seen = new Set<number>()
  const { id } = (await rapport.call('POST', path, { name: 'Target' })).body.data
  const field = fc.constantFrom(...Object.keys(fields), ...Object.keys(ruled), 'id', 'status', 'contact')
  const key = fc.oneof(field, fc.string({ unit: 'binary' }))
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.double(),
    fc.integer(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...stages, null, -0, 1e21, '\0', '\ud800'),
  )
  const nearly = fc
    .dictionary(field, value, { maxKeys: 2 })
    .map((odd) => ({ name: 'X', stage: 'demo', ...odd }))
  const body = fc.oneof(
    { weight: 3, arbitrary: fc.dictionary(key, value, { maxKeys: 8 }).map((one) => JSON.stringify(one)) },
    { weight: 3, arbitrary: nearly.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string() },
  )
  const target = fc.constantFrom<(readonly [string, string])[]>(
    ['POST', path],
    ['PUT', `${path}/${id}`],
    ['PATCH', `${path}/${id}`],
    ['POST', `${path}/${id}/change-stage`],
  )
  const run = async ([method, url]: readonly [string, string], sent: string) => {
    const reply = await rapport.call(method, url, sent, { 'content-type': 'application/json' })
    assert.ok([200, 201, 400, 422].includes(reply.status), `${reply.status} ${reply.text}`)
    seen.add(reply.status)
    assert.equal(reply.body.success, reply.status < 300)
  }
  await fc.assert(fc.asyncProperty(target, body, run), { numRuns: runs(400) })
  assert.equal(seen.size, 4)
})
