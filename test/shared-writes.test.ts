// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useStored } from './database.ts'
import { callOf, useRapport } from './harness.ts'

// Concurrent requests share transactions. Each must answer, and store, what it would alone.

const rapport = useRapport()
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/contacts'
const ana = { first_name: 'Ana', last_name: 'Ruiz-Fernández de la Vega' }

test('of many concurrent requests, each gets the answer to its own, and the refused ones leave nothing', async () => {
  const company = (await call('POST', '/api/v1/companies', { name: 'Nordwind Logistik GmbH & Co. KG' })).body
    .data
  const old = (await call('POST', path, ana)).body.data
  const before = (await call('GET', path)).body.meta.total
  const sent = Array.from({ length: 90 }, (_, n) => {
    if (n % 9 === 3) return call('POST', path, { ...ana, company_id: 999_999 })
    if (n % 9 === 4) return call('POST', path, { ...ana, email: 'not an address' })
    if (n % 9 === 5) return call('PATCH', `${path}/999999`, { phone: '+49 30 1' })
    if (n % 9 === 6)
      return call('PATCH', `${path}/${old.id}`, { phone: '+49 30 2' }, { 'if-match': '"stale"' })
    return call('POST', path, { ...ana, email: `ana.${n}@nordwind.example`, company_id: company.id })
  })
  const replies = await Promise.all(sent)
  const refused: Record<number, [number, string]> = {
    3: [422, 'validation_failed'],
    4: [422, 'validation_failed'],
    5: [404, 'not_found'],
    6: [412, 'precondition_failed'],
  }
  for (const [n, { status, body, headers }] of replies.entries()) {
    const expected = refused[n % 9]
    if (expected) {
      assert.deepEqual([status, body.error.code], expected)
      continue
    }
    assert.equal(status, 201)
    assert.equal(body.data.email, `ana.${n}@nordwind.example`)
    assert.equal(headers.get('location'), `${path}/${body.data.id}`)
    assert.equal(body.data.company.name, company.name)
    assert.deepEqual((await call('GET', `${path}/${body.data.id}`)).body.data, body.data)
    const [event, ...more] = await stored.events('contact', body.data.id)
    assert.equal(event?.event, 'contact.created')
    assert.equal(event?.data.email, body.data.email)
    assert.deepEqual(more, [])
  }
  assert.equal((await call('GET', path)).body.meta.total, before + 50)
  const requests = replies.map(({ headers }) => headers.get('x-request-id'))
  const audited = await stored.rows(
    "SELECT request_id FROM audit_log WHERE kind = 'contacts' AND action = 'created'",
  )
  const ids = new Set(audited.map(({ request_id }) => request_id))
  assert.deepEqual(
    requests.map((id) => ids.has(id)),
    replies.map(({ status }) => status === 201),
  )
})

test('concurrent changes of one record are all kept', async () => {
  const { id } = (await call('POST', path, ana)).body.data
  const keys = Array.from({ length: 40 }, (_, n) => `field_${n}`)
  const replies = await Promise.all(
    keys.map((key, n) => call('PATCH', `${path}/${id}`, { custom_fields: { [key]: n } })),
  )
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
  const { custom_fields } = (await call('GET', `${path}/${id}`)).body.data
  assert.deepEqual(Object.keys(custom_fields).sort(), keys.sort())
  assert.equal((await stored.events('contact', id)).length, 41)
})

test('of concurrent creates with one unique value, one succeeds', async () => {
  const field = { resource: 'contacts', key: 'tax_id', label: 'Tax id', type: 'text', unique: true }
  assert.equal((await call('POST', '/api/v1/custom-fields', field)).status, 201)
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      call('POST', path, { ...ana, custom_fields: { tax_id: n % 3 ? 'DE 811 907 980' : `DE ${n}` } }),
    ),
  )
  const made = replies
    .filter(({ status }) => status === 201)
    .map(({ body }) => body.data.custom_fields.tax_id)
  assert.equal(made.length, 11)
  assert.equal(new Set(made).size, 11)
  for (const { status, body } of replies.filter(({ status }) => status !== 201)) {
    assert.equal(status, 422)
    assert.equal(body.error.fields[0].code, 'taken')
  }
})
