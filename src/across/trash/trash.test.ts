// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'
import { smallestBody } from '../../../test/operations.ts'
import { resources } from '../../resources/index.ts'

const all_kinds = resources.map(({ table }) => table)
const clock = turnableClock()
const rapport = useRapport({ clock, env: { TRASH_DAYS: '7' } })
const call = callOf(rapport)

const api = '/api/v1'
const now = () => new Date(clock.now()).toISOString()
const ok = async (method: string, path: string, body?: object) => dataOf(await call(method, api + path, body))
const listed = async (query = '') => (await call('GET', `${api}/trash?per_page=100&${query}`)).body
const text = 'Met at the fair, and again on the train back. '.repeat(4).trim()

/** One record of each kind with everything that it can have; where it is, and what the trash calls it. */
async function oneOfEach() {
  const company = await ok('POST', '/companies', {
    name: 'Acme',
    website: 'https://acme.example',
    industry: 'Tools',
    phone: '1',
    address: 'Main Street',
    custom_fields: { region: 'EMEA' },
  })
  const contact = await ok('POST', '/contacts', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    email: 'ana@acme.example',
    phone: '+34 1',
    mobile: '+34 2',
    company_id: company.id,
    title: 'Buyer',
    stage: 'lead',
    source: 'fair',
    custom_fields: { region: 'EMEA' },
    tags: ['partner'],
  })
  const deal = await ok('POST', '/deals', {
    name: 'Seats',
    value: 12500.5,
    probability: 35,
    stage: 'proposal',
    priority: 'high',
    source: 'web',
    contact_id: contact.id,
    company_id: company.id,
    expected_close_date: '2026-12-31',
  })
  const activity = await ok('POST', '/activities', {
    type: 'call',
    subject: 'Talk about the offer',
    body: 'Twice',
    due_at: now(),
    contact_id: contact.id,
    company_id: company.id,
    deal_id: deal.id,
  })
  const page = await ok('POST', '/booking-pages', {
    slug: `demo-${company.id}`,
    title: 'Demo page',
    description: 'An hour',
    time_zone: 'Europe/Berlin',
  })
  const appointment = await ok('POST', '/appointments', {
    title: 'Demo',
    type: 'demo',
    start_at: '2026-12-01T10:00:00.000Z',
    end_at: '2026-12-01T10:30:00.000Z',
    contact_id: contact.id,
    booking_page_id: page.id,
    deal_id: deal.id,
    location: 'Video',
    notes: 'Bring the offer',
  })
  const at = (kind: string, path: string, id: number, name: string) => ({ kind, path, id, name })
  const noteAt = async (kind: string, notes: string) => {
    const { id } = await ok('POST', notes, { body: text })
    return at(kind, `${notes}/${id}`, id, text.slice(0, 80))
  }
  const records = {
    company: at('companies', `/companies/${company.id}`, company.id, 'Acme'),
    contact: at('contacts', `/contacts/${contact.id}`, contact.id, 'Ana Ruiz'),
    deal: at('deals', `/deals/${deal.id}`, deal.id, 'Seats'),
    activity: at('activities', `/activities/${activity.id}`, activity.id, 'Talk about the offer'),
    page: at('booking_pages', `/booking-pages/${page.id}`, page.id, 'Demo page'),
    appointment: at('appointments', `/appointments/${appointment.id}`, appointment.id, 'Demo'),
    note: await noteAt('notes', `/contacts/${contact.id}/notes`),
    company_note: await noteAt('company_notes', `/companies/${company.id}/notes`),
    deal_note: await noteAt('deal_notes', `/deals/${deal.id}/notes`),
  }
  const kinds = Object.values(records).map(({ kind }) => kind)
  const others: Record<string, ReturnType<typeof at>> = {}
  for (const resource of resources.filter(({ table }) => !kinds.includes(table))) {
    const { table, title } = resource
    const path = resource.path.replace(api, '')
    const body = smallestBody(resource)
    const { id } = await ok('POST', path, body)
    others[table] = at(table, `${path}/${id}`, id, title.fields.map((field) => body[field]).join(' '))
  }
  return { ...records, ...others }
}

test('delete and restore give back the exact earlier state of every kind, in every list and total', async () => {
  const records = await oneOfEach()
  const { company, contact, deal } = records
  const lists = [
    '/companies',
    '/contacts',
    '/deals',
    '/activities',
    '/booking-pages',
    '/appointments',
    '/contacts?search=ruiz',
    '/contacts?tag=partner',
    '/contacts?custom_fields[region]=EMEA',
    '/contacts?stage=lead',
    `/contacts?company_id=${company.id}`,
    '/companies?custom_fields[region]=EMEA',
    '/deals?stage=proposal',
    '/deals?status=open',
    `/deals?contact_id=${contact.id}`,
    '/activities?type=call',
    `/activities?deal_id=${deal.id}`,
    `/appointments?deal_id=${deal.id}`,
    ...[contact, company, deal].map(({ path }) => `${path}/notes`),
  ]
  // A list of something that is gone may refuse to answer: that too is its state.
  const states = async () =>
    Promise.all(
      [...lists, ...Object.values(records).map(({ path }) => path)].map(async (path) => {
        const { status, body, headers } = await call('GET', api + path)
        const { request_id: _, ...error } = body.error ?? {}
        return { path, status, etag: headers.get('etag'), data: body.data, meta: body.meta, error }
      }),
    )
  const whole = await states()
  assert.ok(whole.every(({ status, data }) => status === 200 && data.length !== 0))
  for (const { path, kind } of Object.values(records)) {
    clock.advance(60_000)
    const reply = await call('DELETE', api + path)
    assert.equal(reply.status, 200, reply.text)
    assert.equal((await call('GET', api + path)).status, 404)
    const without = await states()
    assert.notDeepEqual(without, whole, kind)
    clock.advance(60_000)
    const restored = await call('POST', `${api}${path}/restore`)
    assert.equal(restored.status, 200, restored.text)
    assert.deepEqual(restored.body.data, whole.find((one) => one.path === path)?.data)
    assert.deepEqual(await states(), whole, kind)
  }
  // All at once, in one order, and back in the other.
  const { note, company_note, deal_note, activity, appointment, page } = records
  const all = [note, company_note, deal_note, activity, appointment, deal, contact, company, page]
  for (const { path } of all) await ok('DELETE', path)
  for (const { path } of all.toReversed()) await ok('POST', `${path}/restore`)
  assert.deepEqual(await states(), whole)
})

describe('the list', () => {
  test('has every kind, latest deletion first, with what a person calls it and when it goes for good', async () => {
    assert.deepEqual((await listed()).data, [])
    const { contact, company, deal, ...others } = await oneOfEach()
    const order = Object.values(others)
    const owners: Record<string, object> = {
      notes: { contact_id: contact.id },
      company_notes: { company_id: company.id },
      deal_notes: { deal_id: deal.id },
    }
    const expected = []
    for (const { kind, id, path, name } of order) {
      clock.advance(1000)
      await ok('DELETE', path)
      const removed_at = new Date(clock.now() + 7 * 24 * 3600 * 1000).toISOString()
      const owner = { contact_id: null, ...owners[kind] }
      expected.unshift({ kind, id, name, ...owner, deleted_at: now(), removed_at })
    }
    const { data, meta } = await listed()
    assert.deepEqual(data, expected)
    assert.deepEqual(meta, { current_page: 1, last_page: 1, per_page: 100, total: order.length })
    assert.deepEqual(
      new Set([...data.map(({ kind }: { kind: string }) => kind), 'contacts', 'companies', 'deals']),
      new Set(all_kinds),
    )
    for (const { kind } of order)
      assert.deepEqual(
        (await listed(`kind=${kind}`)).data,
        expected.filter((one) => one.kind === kind),
      )
    assert.deepEqual(
      (await listed('kind=contacts,deals')).data,
      expected.filter(({ kind }) => kind === 'contacts' || kind === 'deals'),
    )
    assert.deepEqual(
      (await listed('kind=!contacts')).data,
      expected.filter(({ kind }) => kind !== 'contacts'),
    )
    // A note of a deleted record is not listed, whether or not it was deleted before.
    for (const [kind, owner] of Object.entries({
      notes: contact,
      company_notes: company,
      deal_notes: deal,
    })) {
      clock.advance(1000)
      await ok('DELETE', owner.path)
      const kinds = (await listed()).data.map(({ kind }: { kind: string }) => kind)
      assert.deepEqual([kinds.includes(kind), kinds[0]], [false, owner.kind])
      await ok('POST', `${owner.path}/restore`)
    }
    for (const { path } of order.toReversed()) await ok('POST', `${path}/restore`)
    assert.deepEqual((await listed()).meta.total, 0)
  })

  test('has exact totals on every page, and by cursor each record once while others come and go', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `Company ${n}`)
    const ids: number[] = []
    for (const name of names) {
      const { id } = await ok('POST', '/companies', { name })
      ids.push(id)
      const deal = await ok('POST', '/deals', { name: `Deal of ${name}` })
      // Some at one time: then by kind and id.
      if (ids.length % 3 === 0) clock.advance(1000)
      await ok('DELETE', `/companies/${id}`)
      await ok('DELETE', `/deals/${deal.id}`)
    }
    const { data: all } = await listed()
    assert.equal(all.length, 24)
    for (let page = 1; page <= 6; page++) {
      const { data, meta } = (await call('GET', `${api}/trash?per_page=5&page=${page}`)).body
      assert.deepEqual(data, all.slice((page - 1) * 5, page * 5))
      assert.deepEqual(meta, { current_page: page, last_page: 5, per_page: 5, total: 24 })
    }
    for (const kind of ['', '&kind=companies']) {
      const found = []
      for (let cursor: string | null = 'start'; cursor !== null; ) {
        const reply = await call('GET', `${api}/trash?per_page=5&cursor=${cursor}${kind}`)
        assert.equal(reply.status, 200, reply.text)
        found.push(...reply.body.data)
        assert.deepEqual(Object.keys(reply.body.meta), ['per_page', 'next_cursor'])
        cursor = reply.body.meta.next_cursor
        // A new deletion is first, and a restored record is no longer listed.
        clock.advance(1000)
        if (kind) continue
        const { id } = await ok('POST', '/companies', { name: 'Late' })
        await ok('DELETE', `/companies/${id}`)
      }
      assert.deepEqual(found, kind ? (await listed('kind=companies')).data : all)
    }
    assert.equal((await call('GET', `${api}/trash?cursor=nonsense`)).status, 422)
  })

  test('refuses a kind that does not exist with the names of those that do', async () => {
    const reply = await call('GET', `${api}/trash?kind=webhooks`)
    assert.equal(reply.status, 422)
    for (const kind of all_kinds) assert.ok(reply.body.error.fields[0].message.includes(kind))
  })

  test('needs trash:read, and shows nothing of another workspace', async () => {
    const other = await newWorkspace(rapport)
    assert.deepEqual((await other('GET', `${api}/trash`)).body.meta.total, 0)
    const { call: reader } = await makeKey(rapport, { scopes: ['contacts:read', 'trash:write'] })
    assert.equal((await reader('GET', `${api}/trash`)).status, 403)
  })
})

describe('restoring a note', () => {
  test('needs its own record, live; a live note is answered unchanged', async () => {
    const records = await oneOfEach()
    const { note, company_note, deal_note, contact, company, deal } = records
    for (const [own, owner, fields] of [
      [note, contact, { first_name: 'Bo', last_name: 'Berg' }],
      [company_note, company, { name: 'Berg AB' }],
      [deal_note, deal, { name: 'Chairs' }],
    ] as const) {
      const other = await ok('POST', `/${owner.kind}`, fields)
      await ok('DELETE', own.path)
      const elsewhere = `${api}/${owner.kind}/${other.id}/notes/${own.id}/restore`
      assert.equal((await call('POST', elsewhere)).status, 404)
      await ok('DELETE', owner.path)
      assert.equal((await call('POST', `${api}${own.path}/restore`)).status, 404)
      await ok('POST', `${owner.path}/restore`)
      assert.deepEqual((await ok('GET', `${owner.path}/notes`)).length, 0)
      const restored = await ok('POST', `${own.path}/restore`)
      assert.deepEqual(await ok('POST', `${own.path}/restore`), restored)
      const history = await ok('GET', `/audit-log?kind=${own.kind}&record_id=${own.id}`)
      assert.deepEqual(
        history.map(({ action }: { action: string }) => action),
        ['restored', 'deleted', 'created'],
      )
    }
  })
})
