// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import {
  CustomFields,
  CustomFieldsInput,
  nullableObject,
  OptionalId,
  Tags,
  TagsInput,
  Text,
} from '../../http/fields.ts'
import { activities } from '../../resources/activities/resource.ts'
import { appointments } from '../../resources/appointments/resource.ts'
import { deals } from '../../resources/deals/resource.ts'
import { defineResource, type Resource } from '../../resources/resource.ts'
import { visitorsOf } from './persons.ts'
import {
  erasedPayload,
  linkedResources,
  redactedFields,
  redactedPayload,
  redactedTexts,
  redactorOf,
} from './redaction.ts'

const nobody = { first_name: null, last_name: null, email: null, phone: null, mobile: null }
const ana = {
  first_name: 'Ana',
  last_name: 'Ruiz Gómez',
  email: 'ana.ruiz@acme.example',
  phone: '+34 910 55 01 42',
  mobile: '0600 123',
}
const redact = redactorOf([ana])

test('a mention is the full name, a name as a whole word, the e-mail or a number, in any case and spelling', () => {
  for (const [text, without] of [
    ['Offer for Ana Ruiz Gómez', 'Offer for [erased]'],
    ['RUIZ  GÓMEZ, ana: offer', '[erased]: offer'],
    ["Ana's offer, ana-line, (ANA)", "[erased]'s offer, [erased]-line, ([erased])"],
    ['write to ANA.Ruiz@acme.example.', 'write to [erased].'],
    ['call +34 910 55 01 42 or 0034910550142 or 34-910-550-142', 'call [erased] or [erased] or [erased]'],
    ['0600123, 0600/123', '[erased], [erased]'],
    ['Ruiz Go\u0301mez', '[erased]'],
    ['Anastasia, Banana, Ruiz, 1060012345', null],
    ['', null],
  ] as const)
    assert.equal(redact(text), without ?? text)
})

test('a number is found as it was typed, with what is no digit in it, and between digits any space or dash', () => {
  const extended = redactorOf([
    { ...nobody, phone: '+49 171 5550-981 x77', mobile: 'privat: 0160 77 881 234' },
  ])
  for (const [text, without] of [
    ['Ring +49 171 5550-981 x77!', 'Ring [erased]!'],
    ['+49 171 5550-981 X77 or 00491715550981X77', '[erased] or [erased]'],
    ['+49171 5550981, then 77', '[erased], then 77'],
    ['+49\u00a0171\u20095550\u2013981\u202fx77', '[erased]'],
    [
      '\u202a+49\u2011171\u20115550\u2212981\u202c, PRIVAT: 0160 77 881 234',
      '\u202a[erased]\u202c, [erased]',
    ],
    ['0160/77.881.234; 0160 77 881 2345 x77', '[erased]; 0160 77 881 2345 x77'],
  ] as const)
    assert.equal(extended(text), without)
  const short = redactorOf([{ ...nobody, phone: 'ext. 77' }])
  assert.equal(short('EXT.  77, next. 77, ext. 778'), '[erased], next. 77, ext. 778')
})

test('a name is taken as it is written, and where words stand without a space, inside of them', () => {
  const odd = redactorOf([{ ...nobody, first_name: 'A.*(b', last_name: '$&' }])
  assert.equal(odd('A.*(b $& and Axxb'), '[erased] and Axxb')
  const taro = redactorOf([{ ...nobody, first_name: '太郎', last_name: '山田' }])
  assert.equal(taro('山田太郎さんと山田さん'), '[erased]さんと[erased]さん')
  const short = redactorOf([{ ...nobody, first_name: 'A', last_name: 'Li' }])
  assert.equal(short('A Li paid a bill'), '[erased] paid a bill')
  assert.equal(redactorOf([nobody, { ...nobody, first_name: ' ' }])('as it was'), 'as it was')
})

test('free texts alone are redacted, and stay within their length', () => {
  const bo = redactorOf([{ ...nobody, first_name: 'Bo' }])
  const fields = {
    name: 'Bo '.repeat(85).trim(),
    stage: 'Bo',
    contact_id: 5,
    lost_reason: null,
    source: 'none',
  }
  const changed = redactedTexts(fields, { redact: bo }, deal)
  assert.deepEqual(Object.keys(changed), ['name'])
  assert.equal(String(changed.name).length, 255)
  assert.match(String(changed.name), /^\[erased\] \[erased\]/)
  const task = redactorOf([{ ...nobody, last_name: 'Task' }])
  for (const [resource, without] of [
    [activities, {}],
    [appointments, { type: '[erased]' }],
  ] as const)
    assert.deepEqual(
      redactedTexts({ type: 'task' }, { redact: task }, { resource, by_visitor: false }),
      without,
    )
})

test('of any resource that refers to a contact, every personal text, tag and custom field is redacted', () => {
  const product: Resource = defineResource({
    // A table that only this test knows.
    table: 'products' as 'deals',
    noun: 'product',
    title: { fields: ['name'] },
    events: [],
    columns: {
      name: { shown: Text(255), personal: true },
      code: { shown: Text(64), personal: false },
      buyer_id: { shown: OptionalId(), refers_to: 'contacts' },
      buyer: { shown: nullableObject(Type.Object({})), embeds: { by: 'buyer_id', fields: ['first_name'] } },
      tags: { shown: Tags(), taken: TagsInput(), encoding: 'json', personal: true },
      custom_fields: { shown: CustomFields(), taken: CustomFieldsInput(), encoding: 'json', personal: true },
    },
  })
  assert.deepEqual(linkedResources([deals, product]), [deals, product])
  const fields = {
    ...{ name: 'For Ana', code: 'Ana', buyer_id: 42, buyer: { id: 42, first_name: 'Ana' } },
    ...{ tags: ['Ana', 'ana', 'vip'], custom_fields: { by: 'Ana Ruiz', seats: 3 } },
  }
  assert.deepEqual(redactedFields(fields, erasure, { resource: product, by_visitor: false }), {
    ...{ name: 'For [erased]', code: 'Ana', buyer_id: 42, buyer: null },
    ...{ tags: ['[erased]', 'vip'], custom_fields: { by: '[erased] Ruiz', seats: 3 } },
  })
})

const now = '2026-11-21T08:30:00.000Z'
const event = { id: 'evt_1', event: 'deal.updated', timestamp: '2026-11-20T08:30:00.000Z' }
const erasure = { contact_id: 42, redact }
const deal = { resource: deals, by_visitor: false }

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

test('a payload that refers to an erased contact loses the person, and what says nothing of the person stays to the byte', () => {
  const company = { id: 7, name: 'Acme' }
  const data = { id: 1, name: 'Ana: seats', value: 12500.5, contact_id: 42, company }
  const contact = { id: 42, first_name: 'Ana', last_name: 'Ruiz Gómez' }
  const payload = JSON.stringify({ ...event, data: { ...data, contact }, previous: { name: 'For ana' } })
  const without = redactedPayload(payload, now, erasure, deal)
  assert.deepEqual(JSON.parse(without), {
    ...event,
    data: { ...data, name: '[erased]: seats', contact: null },
    previous: { name: 'For [erased]' },
    erased_at: now,
  })
  assert.equal(redactedPayload(without, '2027-01-01T00:00:00.000Z', erasure, deal), without)
  const other = JSON.stringify({
    ...event,
    data: { ...data, name: 'Seats', contact: { ...contact, id: 43 } },
  })
  assert.equal(redactedPayload(other, now, erasure, deal), other)
  const said = { notes: 'I am 40', cancel_reason: 'Too late' }
  const visit = JSON.stringify({ ...event, data: { id: 1, title: 'Demo', ...said }, previous: said })
  const meeting = { resource: appointments, by_visitor: false }
  assert.equal(redactedPayload(visit, now, erasure, meeting), visit)
  const { data: left, previous } = JSON.parse(
    redactedPayload(visit, now, erasure, { ...meeting, by_visitor: true }),
  )
  const nothing = { notes: null, cancel_reason: null }
  assert.deepEqual([left, previous], [{ id: 1, title: 'Demo', ...nothing }, nothing])
})

test('the name and number that a visitor gave are found at the end of the notes, wherever the first name ends', () => {
  const notes = 'Name: of my ship\n\nI come late\n\nName: Ana de Ruiz\nPhone: 0600 123'
  const names = visitorsOf(notes).map(({ first_name, last_name }) => [first_name, last_name])
  assert.deepEqual(names, [
    ['Ana', 'de Ruiz'],
    ['Ana de', 'Ruiz'],
  ])
  assert.deepEqual(visitorsOf('Phone: 0600 123'), [{ ...nobody, phone: '0600 123' }])
  assert.deepEqual(visitorsOf('Call me by phone: 0600'), [])
  const named = redactorOf(visitorsOf(notes))
  assert.equal(named('Ruiz, ANA de: 0600/123 de Ana'), '[erased]: [erased] de [erased]')
})
