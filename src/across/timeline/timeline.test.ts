import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const base = '/api/v1'
async function done(method: string, path: string, body?: object) {
  clock.advance(1000)
  return dataOf(await call(method, base + path, body))
}
const made = (path: string, body: object) => done('POST', path, body)

type Entry = { at: string; type: string; id: number; data: Record<string, unknown> }
async function timeline(path: string, by = call): Promise<Entry[]> {
  const { status, body, text } = await by('GET', `${base}${path}/timeline?per_page=100`)
  assert.equal(status, 200, text)
  assert.deepEqual(body.meta, { per_page: 100, next_cursor: null })
  return body.data
}
const listed = async (path: string, id: number) =>
  (await call('GET', `${base}/${path}`)).body.data.find((one: { id: number }) => one.id === id)

/** A contact of a company, with something of every type. */
async function everything() {
  const company = await made('/companies', { name: 'Acme' })
  const contact = await made('/contacts', { first_name: 'Ana', last_name: 'Ruiz', company_id: company.id })
  const links = { contact_id: contact.id, company_id: company.id }
  const note = await made(`/contacts/${contact.id}/notes`, { body: 'Met at the fair' })
  const deal = await made('/deals', { name: 'Relaunch', value: 100.5, ...links })
  const company_note = await made(`/companies/${company.id}/notes`, { body: 'Closed in August' })
  const deal_note = await made(`/deals/${deal.id}/notes`, { body: 'Decides in May' })
  const activity = await made('/activities', {
    type: 'call',
    subject: 'Talk',
    body: 'A long text',
    due_at: '2026-12-01T09:00:00Z',
    ...links,
    deal_id: deal.id,
  })
  const times = { start_at: '2027-01-04T10:00:00Z', end_at: '2027-01-04T11:00:00Z' }
  const of_demo = { contact_id: contact.id, deal_id: deal.id }
  const appointment = await made('/appointments', { title: 'Demo', ...times, ...of_demo })
  await done('POST', `/deals/${deal.id}/change-stage`, { stage: 'demo' })
  await done('PUT', `/contacts/${contact.id}`, { title: 'CEO' })
  await done('PUT', `/companies/${company.id}`, { phone: '123' })
  return { company, contact, note, company_note, deal_note, deal, activity, appointment }
}

const kinds = (entries: Entry[]) => entries.map(({ type, data }) => [type, data.action ?? data.id ?? data.to])

test('each timeline has its entries, newest first, and shows records as their lists do', async () => {
  const { company, contact, note, company_note, deal_note, deal, activity, appointment } = await everything()
  const of_contact = await timeline(`/contacts/${contact.id}`)
  const linked = [
    ['stage_change', 'demo'],
    ['appointment', appointment.id],
    ['activity', activity.id],
    ['deal_note', deal_note.id],
  ]
  const first = [
    ['deal', deal.id],
    ['note', note.id],
  ]
  assert.deepEqual(kinds(of_contact), [['change', 'updated'], ...linked, ...first, ['change', 'created']])
  const of_company = await timeline(`/companies/${company.id}`)
  const own = [['company_note', company_note.id], ...first]
  assert.deepEqual(kinds(of_company), [['change', 'updated'], ...linked, ...own, ['change', 'created']])
  const of_deal = await timeline(`/deals/${deal.id}`)
  assert.deepEqual(kinds(of_deal), [
    ['stage_change', 'demo'],
    ['change', 'stage_changed'],
    ['appointment', appointment.id],
    ['activity', activity.id],
    ['deal_note', deal_note.id],
    ['change', 'created'],
  ])

  const [updated, stage, , , , , , created] = of_contact
  for (const [type, path, record] of [
    ['appointment', 'appointments', appointment],
    ['activity', 'activities', activity],
    ['deal', 'deals', deal],
    ['note', `contacts/${contact.id}/notes`, note],
  ] as const) {
    const shown = { at: record.created_at, type, id: record.id, data: await listed(path, record.id) }
    for (const entries of [of_contact, of_company])
      assert.deepEqual(
        entries.find((entry) => entry.type === type),
        shown,
      )
  }
  const { created_at: at, id } = deal_note
  const data = await listed(`deals/${deal.id}/notes`, id)
  for (const entries of [of_contact, of_company, of_deal])
    assert.deepEqual(
      entries.find(({ type }) => type === 'deal_note'),
      { at, type: 'deal_note', id, data },
    )
  const [first_key] = (await call('GET', `${base}/audit-log?kind=api_keys&per_page=1&page=1`)).body.data
  const by = { kind: 'key', id: first_key.record_id, name: 'First key' }
  assert.deepEqual(stage?.data, { deal_id: deal.id, deal_name: 'Relaunch', from: 'new_lead', to: 'demo', by })
  const { request_id, ...change } = updated?.data ?? {}
  assert.match(String(request_id), /^req_/)
  assert.deepEqual(change, {
    action: 'updated',
    actor: by,
    before: { title: null },
    after: { title: 'CEO' },
  })
  assert.equal(created?.data.before, null)
})

test('what is linked and goes to the trash does not appear, and comes back with a restore', async () => {
  const { company, contact, note, deal_note, deal, activity, appointment } = await everything()
  const path = `/contacts/${contact.id}`
  const before = await timeline(path)
  const of_company = await timeline(`/companies/${company.id}`)
  for (const [type, record] of [
    ['note', `${path}/notes/${note.id}`],
    ['deal_note', `/deals/${deal.id}/notes/${deal_note.id}`],
    ['activity', `/activities/${activity.id}`],
    ['appointment', `/appointments/${appointment.id}`],
    ['deal', `/deals/${deal.id}`],
  ] as const) {
    await done('DELETE', record)
    const gone = type === 'deal' ? ['deal', 'stage_change', 'deal_note'] : [type]
    const rest = (all: Entry[]) =>
      all
        .filter((entry) => !gone.includes(entry.type))
        // A reference to a deal in the trash reads null.
        .map((entry) =>
          type === 'deal' && entry.type === 'activity'
            ? { ...entry, data: { ...entry.data, deal_id: null } }
            : entry,
        )
    assert.deepEqual(await timeline(path), rest(before))
    assert.deepEqual(await timeline(`/companies/${company.id}`), rest(of_company))
    await done('POST', `${record}/restore`)
    assert.deepEqual(await timeline(path), before)
  }
})

test('a company shows what belongs to the people who are there now', async () => {
  const { company, contact } = await everything()
  const other = await made('/companies', { name: 'Other' })
  await done('PUT', `/contacts/${contact.id}`, { company_id: other.id })
  const types = async (id: number) => (await timeline(`/companies/${id}`)).map(({ type }) => type)
  assert.deepEqual(await types(other.id), ['change', 'appointment', 'note'])
  assert.ok(!(await types(company.id)).includes('note'))
  assert.ok((await types(company.id)).includes('deal'))
  await done('DELETE', `/contacts/${contact.id}`)
  assert.deepEqual(await types(other.id), ['change'])
})

test('a timeline is that of a live record of the own workspace', async () => {
  const { company, contact, deal } = await everything()
  const stranger = await newWorkspace(rapport)
  for (const path of [`/companies/${company.id}`, `/contacts/${contact.id}`, `/deals/${deal.id}`]) {
    const at = `${base}${path}/timeline`
    assert.equal((await stranger('GET', at)).status, 404)
    await done('DELETE', path)
    assert.equal((await call('GET', at)).status, 404)
    await done('POST', `${path}/restore`)
    const [restored, deleted] = await timeline(path)
    assert.deepEqual([restored?.data.action, deleted?.data.action], ['restored', 'deleted'])
  }
  for (const path of ['contacts/0', 'deals/x', 'companies/999999'])
    assert.equal((await call('GET', `${base}/${path}/timeline`)).status, 404)
})

test('a timeline is no way around a scope: what a key may not read by itself is left out', async () => {
  const { company, contact, deal } = await everything()
  const seen = async (path: string, scopes: string[]) => {
    const key = await makeKey(rapport, { scopes })
    return [...new Set((await timeline(path, key.call)).map(({ type }) => type))].sort()
  }
  const of_contact = `/contacts/${contact.id}`
  assert.deepEqual(await seen(of_contact, ['contacts:read']), ['change', 'note'])
  assert.deepEqual(await seen(of_contact, ['contacts:read', 'activities:read', 'appointments:read']), [
    'activity',
    'appointment',
    'change',
    'note',
  ])
  assert.deepEqual(await seen(`/companies/${company.id}`, ['companies:read']), ['change', 'company_note'])
  assert.deepEqual(await seen(`/companies/${company.id}`, ['companies:read', 'deals:read']), [
    'change',
    'company_note',
    'deal',
    'deal_note',
    'stage_change',
  ])
  assert.deepEqual(await seen(`/deals/${deal.id}`, ['deals:read']), ['change', 'deal_note', 'stage_change'])
  const key = await makeKey(rapport, { scopes: ['deals:read'] })
  assert.equal((await key.call('GET', `${base}${of_contact}/timeline`)).status, 403)
})

test('a cursor that is not of a timeline, and parameters that it has not, are refused', async () => {
  const { contact } = await everything()
  const path = `${base}/contacts/${contact.id}/timeline`
  const place = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  for (const cursor of [
    'x',
    place('timeline', 1, 1, 1),
    place('timeline', '2026-11-21T08:30:00.000Z', 1),
    place('timeline', '2026-11-21T08:30:00.000Z', 1, 'x'),
    place('timeline', '2026\0', 1, 1),
    place('audit_log', '2026-11-21T08:30:00.000Z', 1),
  ]) {
    const { status, body, text } = await call('GET', `${path}?cursor=${cursor}`)
    assert.equal(status, 422, text)
    assert.deepEqual([body.error.fields[0].field, body.error.fields[0].code], ['cursor', 'invalid_cursor'])
  }
  assert.equal((await call('GET', `${path}?per_page=0`)).status, 422)
  assert.equal((await call('GET', `${path}?page=1`)).status, 400)
  assert.equal((await call('GET', `${path}?per_page=1000`)).body.meta.per_page, 100)
  assert.equal((await call('GET', path)).body.meta.per_page, 25)
})
