// runs: both
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { dataOf, problems, refused } from '../../../test/envelope.ts'
import { client, type Rapport, turnableClock, useRapport } from '../../../test/harness.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
type Json = any
const clock = turnableClock()
const day_ms = 24 * 3600 * 1000
const rapport = useRapport({ clock })
const stored = useStored(rapport)
let call: Rapport['call']
beforeEach(async () => {
  call = await newWorkspace(rapport)
})

const ok = async (method: string, path: string, body?: object): Promise<Json> =>
  dataOf(await call(method, `/api/v1${path}`, body))
async function merge(path: string, from_ids: number[], fields?: Record<string, number>): Promise<Json> {
  const reply = await call('POST', `/api/v1${path}/merge`, { from_ids, ...(fields && { fields }) })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const undo = (id: number) => ok('POST', `/merges/${id}/undo`)
const contact = async (fields: object = {}) =>
  (await ok('POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz', ...fields })).id as number
const times = { start_at: '2027-01-04T10:00:00Z', end_at: '2027-01-04T11:00:00Z' }

/** One record of each kind that refers to a contact, with their paths. */
async function linked(contact_id: number): Promise<string[]> {
  const made: string[] = []
  for (const [path, body] of [
    ['/deals', { name: 'Relaunch', contact_id }],
    ['/activities', { subject: 'Call', contact_id }],
    ['/appointments', { title: 'Demo', contact_id, ...times }],
  ] as const)
    made.push(`${path}/${(await ok('POST', path, body)).id}`)
  return made
}

/** A record without what every change sets. */
const lasting = ({ updated_at, updated_by, ...record }: Json) => record
const readAll = (paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => lasting(await ok('GET', path))))

describe('a merge', () => {
  test('gives the survivor the first values that are not null, unites tags and merges custom fields', async () => {
    const survivor = await contact({
      phone: '1',
      tags: ['a', 'b'],
      custom_fields: { region: 'EMEA', size: 5 },
    })
    const second = await contact({
      phone: '2',
      mobile: '22',
      tags: ['b', 'c'],
      custom_fields: { size: 6, since: 2020, vip: true },
    })
    const third = await contact({ first_name: 'Anna', phone: '3', mobile: '33', email: 'anna@acme.example' })
    const fields = { phone: third, first_name: third, 'custom_fields.size': second }
    const { data, meta } = await merge(`/contacts/${survivor}`, [second, third], fields)
    assert.ok(meta.merge_id > 0)
    const { id, first_name, phone, mobile, email, tags, custom_fields } = data
    assert.deepEqual(
      { id, first_name, phone, mobile, email, tags, custom_fields },
      {
        id: survivor,
        first_name: 'Anna',
        phone: '3',
        mobile: '22',
        email: 'anna@acme.example',
        tags: ['a', 'b', 'c'],
        custom_fields: { region: 'EMEA', size: 6, since: 2020, vip: true },
      },
    )
    assert.deepEqual(await ok('GET', `/contacts/${survivor}`), data)
  })

  test('moves notes, deals, activities and appointments, those in the trash too', async () => {
    const [survivor, other] = [await contact(), await contact()]
    const paths = await linked(other)
    const note = await ok('POST', `/contacts/${other}/notes`, { body: 'Met at the fair' })
    const gone = await ok('POST', '/deals', { name: 'Old', contact_id: other })
    await ok('DELETE', `/deals/${gone.id}`)
    await merge(`/contacts/${survivor}`, [other])
    for (const record of await readAll(paths)) assert.equal(record.contact_id, survivor)
    assert.equal((await ok('GET', `/contacts/${survivor}/notes/${note.id}`)).body, 'Met at the fair')
    assert.equal((await ok('POST', `/deals/${gone.id}/restore`)).contact_id, survivor)
  })

  test('gives the place of a guest to the survivor, beside whom it may be, and an undo puts each back', async () => {
    const [survivor, first, second] = [await contact(), await contact(), await contact()]
    const invite = async (guest_ids: number[], more = {}) =>
      (await ok('POST', '/appointments', { title: 'Demo', guest_ids, ...times, ...more })).id as number
    const ids = [
      await invite([first]),
      await invite([survivor, first]),
      await invite([first, second], { contact_id: second }),
    ]
    const gone = await invite([first])
    const paths = ids.map((id) => `/appointments/${id}`)
    const originals = await readAll(paths)
    await ok('DELETE', `/appointments/${gone}`)
    clock.advance(1000)
    const { meta } = await merge(`/contacts/${survivor}`, [first, second])
    const merged = await readAll(paths)
    assert.deepEqual(
      merged.map(({ guest_ids }) => guest_ids),
      paths.map(() => [survivor]),
    )
    assert.equal(merged[2].contact_id, survivor)
    const [id = 0] = ids
    const { event, changed_fields, previous } = (await stored.events('appointment', id)).at(-1) as Json
    assert.deepEqual(
      { event, changed_fields, previous },
      { event: 'appointment.updated', changed_fields: ['guest_ids'], previous: { guest_ids: [first] } },
    )
    clock.advance(1000)
    assert.deepEqual((await undo(meta.merge_id)).left, [])
    assert.deepEqual(await readAll(paths), originals)
    assert.deepEqual((await ok('POST', `/appointments/${gone}/restore`)).guest_ids, [first])
  })

  test('of a guest leaves other merges of the appointment to their undo, and its own where the guest was removed', async () => {
    const [survivor, whom, guest] = [await contact(), await contact(), await contact()]
    const { id } = await ok('POST', '/appointments', {
      ...times,
      title: 'Demo',
      contact_id: whom,
      guest_ids: [guest],
    })
    const path = `/appointments/${id}`
    const [original] = await readAll([path])
    const of_contact = await merge(`/contacts/${survivor}`, [whom])
    clock.advance(1000)
    const of_guest = await merge(`/contacts/${survivor}`, [guest])
    clock.advance(1000)
    assert.deepEqual((await undo(of_contact.meta.merge_id)).left, [])
    assert.deepEqual((await undo(of_guest.meta.merge_id)).left, [])
    assert.deepEqual(await readAll([path]), [original])
    const again = await merge(`/contacts/${survivor}`, [guest])
    await ok('PUT', path, { guest_ids: [] })
    assert.deepEqual((await undo(again.meta.merge_id)).left, [])
    assert.deepEqual((await ok('GET', path)).guest_ids, [])
  })

  test('of companies moves their contacts, deals and notes, and an undo moves them back', async () => {
    const survivor = await ok('POST', '/companies', { name: 'Acme' })
    const other = await ok('POST', '/companies', { name: 'ACME Inc.', website: 'https://acme.example' })
    const company_id = other.id
    const paths = [
      `/contacts/${await contact({ company_id })}`,
      `/deals/${(await ok('POST', '/deals', { name: 'Relaunch', company_id })).id}`,
    ]
    const note = await ok('POST', `/companies/${company_id}/notes`, { body: 'Closed in August' })
    const note_path = `/companies/${company_id}/notes/${note.id}`
    const before = await readAll([note_path])
    const { data, meta } = await merge(`/companies/${survivor.id}`, [other.id])
    const moved = await ok('GET', `/companies/${survivor.id}/notes/${note.id}`)
    assert.deepEqual([moved.company_id, moved.body], [survivor.id, 'Closed in August'])
    assert.deepEqual([data.name, data.website], ['Acme', 'https://acme.example'])
    for (const record of await readAll(paths)) assert.equal(record.company.name, 'Acme')
    const missing = await call('GET', `/api/v1/companies/${other.id}`)
    assert.deepEqual([missing.status, missing.body.error.merged_into_id], [404, survivor.id])
    clock.advance(1000)
    assert.deepEqual((await undo(meta.merge_id)).left, [])
    assert.deepEqual(await readAll([note_path]), before)
  })

  test('has its events and audit entries: of the survivor, of the others, and of what moved', async () => {
    const [survivor, other] = [await contact(), await contact({ email: 'ana@acme.example' })]
    const [deal = ''] = await linked(other)
    const { data, meta } = await merge(`/contacts/${survivor}`, [other])
    const [updated] = (await stored.wholeEvents('contact', survivor)).slice(-1) as Json[]
    const { id: _, timestamp: __, sequence: ___, actor, ...payload } = updated
    const shown = JSON.parse(JSON.stringify(data))
    assert.deepEqual(payload, {
      event: 'contact.updated',
      data: shown,
      changed_fields: ['email'],
      previous: { email: null },
      merged_from_ids: [other],
      source: 'merge',
      api_version: '2026-12-01',
    })
    assert.deepEqual(actor, shown.updated_by)
    const [deleted] = (await stored.wholeEvents('contact', other)).slice(-1) as Json[]
    assert.deepEqual(
      [deleted.event, deleted.merged_into_id, deleted.data.email],
      ['contact.deleted', survivor, 'ana@acme.example'],
    )
    const deal_id = Number(deal.split('/').at(-1))
    const [moved] = (await stored.wholeEvents('deal', deal_id)).slice(-1) as Json[]
    assert.deepEqual(
      [moved.event, moved.previous, moved.source],
      ['deal.updated', { contact_id: other }, 'merge'],
    )
    assert.equal('merged_from_ids' in moved, false)
    const actions = async (kind: string, id: number) =>
      (await ok('GET', `/audit-log?kind=${kind}&record_id=${id}`)).map(({ action }: Json) => action)
    assert.deepEqual(await actions('contacts', survivor), ['merged', 'updated', 'created'])
    assert.deepEqual(await actions('contacts', other), ['deleted', 'created'])
    assert.deepEqual(await actions('deals', deal_id), ['updated', 'created'])
    const [entry] = await ok('GET', `/audit-log?kind=contacts&record_id=${survivor}`)
    assert.deepEqual(entry.after, { merge_id: meta.merge_id, merged_from_ids: [other] })
  })

  test('that changes no value still tells that the survivor was merged', async () => {
    const [survivor, other] = [await contact(), await contact()]
    await merge(`/contacts/${survivor}`, [other])
    const [updated] = (await stored.wholeEvents('contact', survivor)).slice(-1) as Json[]
    assert.deepEqual(
      [updated.event, updated.changed_fields, updated.merged_from_ids],
      ['contact.updated', [], [other]],
    )
  })

  test('leads from each merged id to the last survivor, and a merged record is not restored by itself', async () => {
    const [first, second, third] = [await contact(), await contact(), await contact()]
    const { meta } = await merge(`/contacts/${second}`, [first])
    await merge(`/contacts/${third}`, [second])
    for (const id of [first, second])
      for (const [method, body] of [['GET'], ['PUT', {}], ['DELETE']] as const) {
        const { status, body: answer } = await call(method, `/api/v1/contacts/${id}`, body)
        assert.deepEqual([status, answer.error.code, answer.error.merged_into_id], [404, 'not_found', third])
      }
    const restored = await call('POST', `/api/v1/contacts/${first}/restore`)
    assert.deepEqual([restored.status, restored.body.error.code], [409, 'conflict'])
    assert.match(restored.body.error.message, new RegExp(`Undo merge ${meta.merge_id}`))
    const early = await call('POST', `/api/v1/merges/${meta.merge_id}/undo`)
    assert.deepEqual([early.status, early.body.error.code], [409, 'conflict'])
  })

  test('that is repeated has the same answer, also with the version before it; with other values it is refused', async () => {
    const [survivor, other] = [await contact({ phone: '1' }), await contact({ phone: '2' })]
    const path = `/api/v1/contacts/${survivor}/merge`
    const { headers } = await call('GET', `/api/v1/contacts/${survivor}`)
    const version = { 'if-match': String(headers.get('etag')) }
    const body = { from_ids: [other], fields: { phone: other } }
    const first = await call('POST', path, body, version)
    assert.equal(first.status, 200, first.text)
    const entries = await ok('GET', '/audit-log')
    for (const more of [{}, version]) {
      const again = await call('POST', path, body, more)
      assert.deepEqual([again.status, again.body], [200, first.body])
    }
    assert.deepEqual(await ok('GET', '/audit-log'), entries)
    assert.deepEqual(problems(await call('POST', path, { from_ids: [other] })), { from_ids: 'not_found' })
    await ok('POST', `/merges/${first.body.meta.merge_id}/undo`)
    const next = await call('POST', path, body)
    assert.notEqual(next.body.meta.merge_id, first.body.meta.merge_id)
  })

  test('is refused with unknown ids and fields, too many tags, an old version, and its own id', async () => {
    const survivor = await contact({ tags: Array.from({ length: 30 }, (_, n) => `a${n}`) })
    const other = await contact({ tags: Array.from({ length: 21 }, (_, n) => `b${n}`) })
    const path = `/api/v1/contacts/${survivor}/merge`
    const attempt = (body: object, headers?: Record<string, string>) => call('POST', path, body, headers)
    assert.deepEqual(problems(await attempt({})), { from_ids: 'required' })
    assert.deepEqual(problems(await attempt({ from_ids: [] })), { from_ids: 'too_few' })
    assert.deepEqual(problems(await attempt({ from_ids: [survivor] })), { from_ids: 'unknown_value' })
    assert.deepEqual(problems(await attempt({ from_ids: [999_999] })), { from_ids: 'not_found' })
    const wrong = { from_ids: [other], fields: { fax: other, phone: 999_999, tags: other } }
    assert.deepEqual(problems(await attempt(wrong)), {
      'fields.fax': 'unknown_field',
      'fields.phone': 'unknown_value',
      'fields.tags': 'unknown_field',
      tags: 'too_many',
    })
    assert.deepEqual(problems(await attempt({ from_ids: [other] })), { tags: 'too_many' })
    assert.equal((await attempt({ from_ids: [other] }, { 'if-match': '"old"' })).status, 412)
    assert.equal((await call('POST', '/api/v1/contacts/999999/merge', { from_ids: [other] })).status, 404)
    assert.deepEqual(await ok('GET', '/merges'), [])
  })
})

describe('an undo', () => {
  test('puts every record back, field by field', async () => {
    const company = await ok('POST', '/companies', { name: 'Acme' })
    const survivor = await contact({ tags: ['b', 'a'], custom_fields: { size: 5 } })
    const other = await contact({
      email: 'ana@acme.example',
      phone: '2',
      company_id: company.id,
      tags: ['c'],
      custom_fields: { size: 6, vip: true },
    })
    const { id: note_id } = await ok('POST', `/contacts/${other}/notes`, { body: 'Met at the fair' })
    const paths = [
      `/contacts/${survivor}`,
      `/contacts/${other}`,
      `/contacts/${other}/notes/${note_id}`,
      ...(await linked(other)),
      ...(await linked(survivor)).slice(0, 1),
    ]
    const gone = await ok('POST', '/deals', { name: 'Old', contact_id: other })
    await ok('DELETE', `/deals/${gone.id}`)
    const originals = await readAll(paths)
    const { meta } = await merge(`/contacts/${survivor}`, [other], { 'custom_fields.size': other })
    clock.advance(1000)
    assert.deepEqual(await undo(meta.merge_id), { restored: 7, left: [] })
    assert.deepEqual(await readAll(paths), originals)
    assert.equal((await ok('POST', `/deals/${gone.id}/restore`)).contact_id, other)
    const [last] = (await stored.wholeEvents('contact', other)).slice(-1) as Json[]
    assert.deepEqual([last.event, last.changed_fields], ['contact.updated', ['deleted_at']])
    assert.deepEqual(await undo(meta.merge_id), { restored: 7, left: [] })
    await merge(`/contacts/${survivor}`, [other])
  })

  test('leaves what was changed since, and puts the other values of the survivor back', async () => {
    const survivor = await contact()
    const other = await contact({ email: 'ana@acme.example', phone: '2', tags: ['x'] })
    const [deal = '', activity = ''] = await linked(other)
    const { meta } = await merge(`/contacts/${survivor}`, [other])
    clock.advance(1000)
    await ok('PUT', deal, { name: 'Another' })
    await ok('PUT', `/contacts/${survivor}`, { phone: '3', tags: ['x', 'y'] })
    const { restored, left } = await undo(meta.merge_id)
    const ids = { deal: Number(deal.split('/').at(-1)) }
    assert.deepEqual(left, [
      { kind: 'contacts', id: survivor, reason: 'changed' },
      { kind: 'deals', id: ids.deal, reason: 'changed' },
    ])
    assert.equal(restored, 3)
    const { email, phone, tags } = await ok('GET', `/contacts/${survivor}`)
    assert.deepEqual({ email, phone, tags }, { email: null, phone: '3', tags: ['y'] })
    assert.equal((await ok('GET', deal)).contact_id, survivor)
    assert.equal((await ok('GET', activity)).contact_id, other)
  })

  test('of a chain of merges, and of a merge of companies between, puts every record back', async () => {
    const [first, second, third] = [await contact(), await contact({ phone: '2' }), await contact()]
    const [acme, other] = [
      await ok('POST', '/companies', { name: 'Acme' }),
      await ok('POST', '/companies', { name: 'ACME' }),
    ]
    const paths = await linked(first)
    await ok('PUT', paths[0] ?? '', { company_id: other.id })
    const note = await ok('POST', `/contacts/${first}/notes`, { body: 'Met at the fair' })
    const all = [...paths, `/contacts/${first}`, `/contacts/${second}`, `/contacts/${first}/notes/${note.id}`]
    const originals = await readAll(all)
    const merges: number[] = []
    for (const [path, from] of [
      [`/contacts/${second}`, first],
      [`/companies/${acme.id}`, other.id],
      [`/contacts/${third}`, second],
    ] as const) {
      clock.advance(1000)
      merges.push((await merge(path, [from])).meta.merge_id)
    }
    const [inner = 0, companies = 0, outer = 0] = merges
    for (const id of [outer, inner, companies]) {
      clock.advance(1000)
      assert.deepEqual((await undo(id)).left, [])
    }
    assert.deepEqual(await readAll(all), originals)
  })

  test('of several merges into one record puts every record back, in each order', async () => {
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const survivor = await contact({ tags: ['a'], custom_fields: { size: 5 } })
      const others = [
        await contact({ phone: '1', tags: ['b', 'c'], custom_fields: { region: 'EMEA' } }),
        await contact({
          phone: '2',
          mobile: '22',
          tags: ['c'],
          custom_fields: { region: 'APAC', vip: true },
        }),
        await contact({
          mobile: '33',
          email: 'ana@acme.example',
          tags: ['b', 'a'],
          custom_fields: { size: 6 },
        }),
      ]
      const links = await Promise.all(others.map(linked))
      const all = [survivor, ...others].map((id) => `/contacts/${id}`).concat(...links)
      const originals = await readAll(all)
      const merges: number[] = []
      for (const other of others) {
        clock.advance(1000)
        merges.push((await merge(`/contacts/${survivor}`, [other])).meta.merge_id)
      }
      for (const n of order) {
        clock.advance(1000)
        assert.deepEqual((await undo(merges[n] as number)).left, [], `undo ${n} of ${order}`)
      }
      assert.deepEqual(await readAll(all), originals, `${order}`)
    }
  })

  test('leaves what was changed between two merges of a chain', async () => {
    const [first, second, third] = [await contact(), await contact(), await contact()]
    const [deal = ''] = await linked(first)
    const { meta: inner } = await merge(`/contacts/${second}`, [first])
    clock.advance(1000)
    await ok('PUT', deal, { name: 'Another' })
    clock.advance(1000)
    const { meta: outer } = await merge(`/contacts/${third}`, [second])
    assert.deepEqual((await undo(outer.merge_id)).left, [])
    const id = Number(deal.split('/').at(-1))
    assert.deepEqual((await undo(inner.merge_id)).left, [{ kind: 'deals', id, reason: 'changed' }])
    assert.equal((await ok('GET', deal)).contact_id, second)
  })

  test('is listed only to callers who may read its kind, and others get an empty list', async () => {
    const [survivor, other] = [
      await ok('POST', '/companies', { name: 'Acme' }),
      await ok('POST', '/companies', { name: 'ACME' }),
    ]
    await merge(`/companies/${survivor.id}`, [other.id])
    const { token } = await ok('POST', '/keys', { name: 'Reader', scopes: ['contacts:read'] })
    const reader = client(rapport.url, token)
    for (const query of ['', '?kind=companies', '?kind=companies&cursor=start'])
      assert.deepEqual(dataOf(await reader('GET', `/api/v1/merges${query}`)), [], query)
  })

  test('refuses If-Match, as its description says, because a merge has no ETag', async () => {
    const [survivor, other] = [await contact(), await contact()]
    const { meta } = await merge(`/contacts/${survivor}`, [other])
    const headers = { 'if-match': '"any"' }
    const reply = await call('POST', `/api/v1/merges/${meta.merge_id}/undo`, undefined, headers)
    refused(reply, 412, 'precondition_failed')
    const { paths } = (await call('GET', '/api/v1/openapi.json')).body
    const { responses, parameters } = paths['/api/v1/merges/{id}/undo'].post
    assert.ok(responses[412])
    assert.ok(!responses[200].headers.ETag)
    assert.ok(!JSON.stringify(parameters).includes('if_match'))
  })

  test('is possible for TRASH_DAYS, and the list of merges says so', async () => {
    const [survivor, other] = [await contact(), await contact()]
    const { meta } = await merge(`/contacts/${survivor}`, [other])
    const [listed] = await ok('GET', `/merges?kind=contacts&record_id=${survivor}`)
    const { id, kind, from_ids, status, undone_at, undo_until } = listed
    assert.deepEqual(
      [id, kind, from_ids, status, undone_at],
      [meta.merge_id, 'contacts', [other], 'done', null],
    )
    assert.equal(Date.parse(undo_until), Date.parse(listed.created_at) + 30 * day_ms)
    assert.deepEqual(await ok('GET', '/merges?kind=companies'), [])
    assert.deepEqual(await ok('GET', '/merges?kind=!contacts'), [])
    assert.deepEqual(await ok('GET', '/merges?kind=companies,contacts'), [listed])
    assert.deepEqual(await ok('GET', `/merges?record_id=${other},${survivor}`), [listed])
    assert.ok(
      (await ok('GET', `/merges?record_id=!${survivor}`)).every((one: { id: number }) => one.id !== id),
    )
    assert.ok(problems(await call('GET', '/api/v1/merges?record_id=0')).record_id)
    clock.advance(30 * day_ms + 1)
    const late = await call('POST', `/api/v1/merges/${meta.merge_id}/undo`)
    assert.deepEqual([late.status, late.body.error.code], [409, 'conflict'])
    assert.equal((await ok('GET', '/merges'))[0].undo_until, null)
    assert.equal((await call('POST', '/api/v1/merges/999999/undo')).status, 404)
  })
})
