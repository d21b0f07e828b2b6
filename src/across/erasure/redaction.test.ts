// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Type } from 'typebox'
import { catalogue } from '../../app.ts'
import { nullableObject, OptionalId, OptionalText, Text } from '../../http/fields.ts'
import { payloadOfType } from '../../http/openapi/events.ts'
import { appointments } from '../../resources/appointments/resource.ts'
import { deals } from '../../resources/deals/resource.ts'
import { defineResource, type Resource } from '../../resources/resource.ts'
import { erasedPayload, linkedResources, redactedFields, redactedPayload } from './redaction.ts'

const contact_id = 42
const contact = { id: contact_id, first_name: 'Ana', last_name: 'Ruiz Gómez' }
const now = '2026-11-21T08:30:00.000Z'
const event = { id: 'evt_1', event: 'deal.updated', timestamp: '2026-11-20T08:30:00.000Z' }
const deal = { resource: deals, booked: false }

test('any resource that refers to a contact loses the embedded contact, and what a visitor wrote who booked', () => {
  const product: Resource = defineResource({
    // A table that only this test knows.
    table: 'products' as 'deals',
    noun: 'product',
    title: { fields: ['name'] },
    events: [],
    columns: {
      name: { shown: Text(255), personal: true },
      wish: { shown: OptionalText(255), personal: 'visitor' },
      buyer_id: { shown: OptionalId(), refers_to: 'contacts' },
      buyer: { shown: nullableObject(Type.Object({})), embeds: { by: 'buyer_id', fields: ['first_name'] } },
    },
  })
  assert.deepEqual(linkedResources([deals, product]), [deals, product])
  const fields = { name: 'For Ana', wish: 'In blue', buyer_id: contact_id, buyer: contact }
  const record = { resource: product, booked: false }
  assert.deepEqual(redactedFields(fields, contact_id, record), { ...fields, buyer: null })
  assert.deepEqual(redactedFields(fields, 43, record), fields)
  const booked = { ...record, booked: true }
  assert.deepEqual(redactedFields(fields, contact_id, booked), { ...fields, buyer: null, wish: null })
  assert.deepEqual(redactedFields({ name: 'For Ana' }, contact_id, booked), { name: 'For Ana' })
})

test('the payload of an erased record tells which one it was, and that it was erased, twice as once', () => {
  const payload = JSON.stringify({
    ...event,
    data: { id: 7, name: 'Ana', custom_fields: { erased_at: 'x' }, tags: ['a'] },
    changed_fields: ['name'],
    previous: { name: 'Ana Ruiz' },
  })
  const without = erasedPayload(payload, now)
  assert.deepEqual(JSON.parse(without), {
    ...event,
    data: { id: 7, name: null, custom_fields: null, tags: null },
    erased_at: now,
  })
  assert.equal(erasedPayload(without, '2027-01-01T00:00:00.000Z'), without)
  // The webhook's id is put in before the data.
  assert.ok(without.indexOf(',"data":') < without.indexOf('erased_at'))
})

test('the schema of each event accepts its payload, also after an erasure and in a test, and no other key', () => {
  const ajv = addFormats.default(new Ajv2020({ strict: false })).addFormat('idn-email', true)
  for (const definition of catalogue) {
    const { schema, example } = payloadOfType(definition)
    const payload = JSON.stringify(example)
    const record = { resource: appointments, booked: true }
    const check = ajv.compile({ ...schema, additionalProperties: false })
    for (const one of [
      example,
      { ...example, test: true },
      JSON.parse(erasedPayload(payload, now)),
      JSON.parse(redactedPayload(payload, now, contact_id, record)),
    ])
      assert.ok(check(one), `${definition.name}: ${JSON.stringify(check.errors)}`)
    const half = { ...example, data: { ...(example.data as object), id: null } }
    assert.equal(check(half), false, definition.name)
  }
})

test('a payload loses the embedded contact and what its visitor wrote, and any other payload stays to the byte', () => {
  const data = { id: 1, name: 'Ana: seats', value: 12500.5, contact_id, company: { id: 7, name: 'Acme' } }
  const previous = { name: 'For Ana' }
  const payload = JSON.stringify({ ...event, data: { ...data, contact }, previous })
  const without = redactedPayload(payload, now, contact_id, deal)
  assert.deepEqual(JSON.parse(without), {
    ...event,
    data: { ...data, contact: null },
    previous,
    erased_at: now,
  })
  assert.equal(redactedPayload(without, '2027-01-01T00:00:00.000Z', contact_id, deal), without)
  const other = JSON.stringify({ ...event, data: { ...data, contact: { ...contact, id: 43 } } })
  assert.equal(redactedPayload(other, now, contact_id, deal), other)
  const said = { notes: 'I am 40', cancel_reason: 'Too late', custom_fields: { age: 40 } }
  const visit = JSON.stringify({ ...event, data: { id: 1, title: 'Demo', ...said }, previous: said })
  const meeting = { resource: appointments, booked: false }
  assert.equal(redactedPayload(visit, now, contact_id, meeting), visit)
  const left = JSON.parse(redactedPayload(visit, now, contact_id, { ...meeting, booked: true }))
  const nothing = { notes: null, cancel_reason: null, custom_fields: {} }
  assert.deepEqual([left.data, left.previous], [{ id: 1, title: 'Demo', ...nothing }, nothing])
})
