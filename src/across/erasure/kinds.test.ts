import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { newWorkspace, readStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'

let rapport: Rapport
let call: Rapport['call']
beforeEach(async () => {
  rapport = await startRapport({ clock: turnableClock() })
  call = rapport.call
})
afterEach(() => rapport.close())

const api = '/api/v1'
const ok = async (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  dataOf(await call(method, api + path, body, headers))
const auditOf = async (kind: string, id: number) =>
  (await ok('GET', `/audit-log?kind=${kind}&record_id=${id}`)) as Record<string, unknown>[]

const times = (hour: number) => ({
  start_at: `2026-12-01T${hour}:00:00.000Z`,
  end_at: `2026-12-01T${hour}:30:00.000Z`,
})

test('every kind can be erased: its row, what the audit log tells of it, and its own events, and nothing else', async () => {
  const secret = 'a private word'
  const contact = await ok('POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const company = await ok('POST', '/companies', { name: secret, custom_fields: { secret } })
  await ok('PUT', `/contacts/${contact.id}`, { company_id: company.id })
  const deal = await ok('POST', '/deals', { name: secret, contact_id: contact.id, company_id: company.id })
  await ok('POST', `/deals/${deal.id}/change-stage`, { stage: 'won' })
  const refers = { contact_id: contact.id, company_id: company.id, deal_id: deal.id }
  const activity = await ok('POST', '/activities', { type: 'task', subject: secret })
  const page = await ok('POST', '/booking-pages', { slug: 'demo', title: secret, time_zone: 'UTC' })
  const appointment = await ok('POST', '/appointments', { title: secret, type: secret, ...times(10) })
  const note = await ok('POST', `/contacts/${contact.id}/notes`, { body: secret })
  const of_company = await ok('POST', `/companies/${company.id}/notes`, { body: secret })
  await ok('POST', `/companies/${company.id}/notes`, { body: secret })
  const of_deal = await ok('POST', `/deals/${deal.id}/notes`, { body: secret })
  await ok('POST', `/deals/${deal.id}/notes`, { body: secret })
  const kept = await ok('POST', '/activities', { type: 'task', subject: 'Kept', ...refers })
  const of_booked = { booking_page_id: page.id, deal_id: deal.id, ...times(12) }
  const booked = await ok('POST', '/appointments', { title: 'Kept', ...of_booked })

  for (const [kind, id, path] of [
    ['appointments', appointment.id, `/appointments/${appointment.id}`],
    ['booking_pages', page.id, `/booking-pages/${page.id}`],
    ['activities', activity.id, `/activities/${activity.id}`],
    ['notes', note.id, `/contacts/${contact.id}/notes/${note.id}`],
    ['company_notes', of_company.id, `/companies/${company.id}/notes/${of_company.id}`],
    ['deal_notes', of_deal.id, `/deals/${deal.id}/notes/${of_deal.id}`],
    ['deals', deal.id, `/deals/${deal.id}`],
    ['companies', company.id, `/companies/${company.id}`],
  ] as const) {
    assert.equal((await call('DELETE', `${api}/trash/${kind}/${id}`)).status, 404, 'it is live')
    await ok('DELETE', path)
    const { status, body } = await call('DELETE', `${api}/trash/${kind}/${id}`)
    assert.deepEqual([status, body.message.endsWith(' was erased.')], [200, true])
    assert.equal((await call('POST', `${api}${path}/restore`)).status, 404)
    const entries = await auditOf(kind, id)
    assert.equal(entries[0]?.action, 'erased')
    assert.ok(entries.length > 2 && entries.every(({ before, after }) => before === null && after === null))
  }
  assert.deepEqual((await call('GET', `${api}/trash`)).body.meta.total, 0)
  const { contact_id, company_id, deal_id, updated_at } = await ok('GET', `/activities/${kept.id}`)
  assert.deepEqual(
    { contact_id, company_id, deal_id, updated_at },
    { contact_id: contact.id, company_id: null, deal_id: null, updated_at: kept.updated_at },
  )
  const left = { ...booked, booking_page_id: null, deal_id: null }
  assert.deepEqual(await ok('GET', `/appointments/${booked.id}`), left)

  const stored = await readStored(rapport.data_dir)
  try {
    for (const [resource, id] of [
      ['company', company.id],
      ['deal', deal.id],
      ['activity', activity.id],
      ['appointment', appointment.id],
    ] as const)
      for (const event of (await stored.events(resource, id)) as { data: object }[]) {
        const { id: of, ...rest } = event.data as { id: number }
        assert.deepEqual([of, Object.values(rest).filter((value) => value !== null)], [id, []])
      }
    assert.deepEqual(await stored.rows('SELECT name FROM record_counts WHERE name LIKE ?', `%${secret}`), [])
    const refer = 'SELECT count(*) AS n FROM activities WHERE company_id IS NOT NULL OR deal_id IS NOT NULL'
    assert.deepEqual(await stored.rows(refer), [{ n: 0 }])
    assert.deepEqual(await stored.rows('SELECT id FROM deal_stages'), [])
    assert.deepEqual(await stored.rows("SELECT field FROM field_values WHERE kind = 'companies'"), [])
  } finally {
    await stored.close()
  }
  // Ids are never used again.
  assert.ok((await ok('POST', '/companies', { name: 'Next' })).id > company.id)
})

test('a record that is live, unknown or of another workspace is not found, whatever the kind, and stays', async () => {
  const { id } = await ok('POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  await ok('DELETE', `/contacts/${id}`)
  const other = await newWorkspace(rapport)
  for (const path of [`contacts/${id}`, `contacts/${id + 9}`, `webhooks/${id}`, `notes/${id}`, 'contacts/x'])
    assert.equal((await other('DELETE', `${api}/trash/${path}`)).status, 404, path)
  const { call: reader } = await makeKey(rapport, { scopes: ['trash:read', 'contacts:write'] })
  assert.equal((await reader('DELETE', `${api}/trash/contacts/${id}`)).status, 403)
  await ok('POST', `/contacts/${id}/restore`)
})
