import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace, readStored } from '../database.ts'
import { dataOf, problems, refused } from '../envelope.ts'
import { callOf, type Rapport, useRapport } from '../harness.ts'
import { before } from '../use.ts'

const rapport = useRapport()
const call = callOf(rapport)
let other: Awaited<ReturnType<typeof newWorkspace>>
before(async () => {
  other = await newWorkspace(rapport)
})

const v1 = '/api/v1'
const url = 'http://127.0.0.1:9/hook'
async function made(caller: Rapport['call'], at: string, body: object) {
  return dataOf(await caller('POST', `${v1}/${at}`, body), 201)
}

test("another workspace's ids answer exactly like ids that never were, on every path and method", async () => {
  const company = await made(call, 'companies', { name: 'Acme' })
  const contact = await made(call, 'contacts', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    company_id: company.id,
  })
  const deal = await made(call, 'deals', { name: 'Deal', contact_id: contact.id })
  const webhook = await made(call, 'webhooks', { name: 'Hook', url, events: ['company.created'] })
  await made(call, 'companies', { name: 'Event' })
  const delivery = (await call('GET', `${v1}/deliveries`)).body.data[0]
  const trashed = await made(call, 'companies', { name: 'Trash' })
  await call('DELETE', `${v1}/companies/${trashed.id}`)
  const activity = await made(call, 'activities', { subject: 'Call', contact_id: contact.id })
  const times = { start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
  const appointment = await made(call, 'appointments', { title: 'Visit', ...times, contact_id: contact.id })
  const page = await made(call, 'booking-pages', {
    slug: 'theirs',
    title: 'Demo',
    time_zone: 'Europe/Berlin',
  })

  const unknown = { number: '999999', text: 'wh_0' }
  const paths: [path: string, methods: string[], id: string | number][] = []
  const records = {
    companies: company,
    contacts: contact,
    deals: deal,
    activities: activity,
    appointments: appointment,
    'booking-pages': page,
  }
  for (const [name, { id }] of Object.entries(records))
    paths.push([`${name}/ID`, ['GET', 'PUT', 'PATCH', 'DELETE'], id], [`${name}/ID/restore`, ['POST'], id])
  paths.push(['companies/ID/restore', ['POST'], trashed.id], ['deals/ID/change-stage', ['POST'], deal.id])
  const notes: string[] = []
  for (const name of ['companies', 'contacts', 'deals'] as const) {
    const { id } = records[name]
    const note = `${name}/ID/notes/${(await made(call, `${name}/${id}/notes`, { body: 'Secret' })).id}`
    notes.push(note)
    paths.push(
      [`${name}/ID/timeline`, ['GET'], id],
      [`${name}/ID/notes`, ['GET', 'POST'], id],
      [note, ['GET', 'PUT', 'DELETE'], id],
      [`${note}/restore`, ['POST'], id],
      [`${note}/history`, ['GET'], id],
    )
  }
  paths.push(
    ['deals/ID/stages', ['GET'], deal.id],
    ['activities/ID/complete', ['POST'], activity.id],
    ['activities/ID/reopen', ['POST'], activity.id],
    ['appointments/ID/cancel', ['POST'], appointment.id],
    ['booking-pages/ID/slots', ['GET'], page.id],
    ['trash/companies/ID', ['DELETE'], trashed.id],
  )
  paths.push(['webhooks/ID', ['GET', 'PUT', 'DELETE'], webhook.id])
  for (const action of ['rotate-secret', 'test', 'pause', 'resume', 'resend-failed'])
    paths.push([`webhooks/ID/${action}`, ['POST'], webhook.id])
  paths.push(['deliveries/ID', ['GET'], delivery.id], ['deliveries/ID/resend', ['POST'], delivery.id])

  const before = await everything()
  for (const [path, methods, id] of paths)
    for (const method of methods) {
      const ask = (named: string | number) =>
        other(
          method,
          `${v1}/${path.replace('ID', String(named))}`,
          method === 'GET' ? undefined : (bodies[path] ?? {}),
        )
      const foreign = await ask(id)
      const never = await ask(typeof id === 'number' ? unknown.number : unknown.text)
      const { request_id } = refused(foreign, 404, 'not_found')
      assert.equal(
        foreign.text.replace(request_id, ''),
        never.text.replace(never.body.error.request_id, ''),
        path,
      )
    }
  // A note is found below its own record only.
  const mine = [
    await made(other, 'companies', { name: 'Other' }),
    await made(other, 'contacts', { first_name: 'Eve', last_name: 'Other' }),
    await made(other, 'deals', { name: 'Other' }),
  ]
  for (const [index, note] of notes.entries())
    refused(await other('GET', `${v1}/${note.replace('ID', mine[index].id)}`), 404, 'not_found')
  assert.deepEqual(await everything(), before)
})

const bodies: Record<string, object> = {
  'deals/ID/change-stage': { stage: 'demo' },
  'contacts/ID/notes': { body: 'Mine' },
  'companies/ID/notes': { body: 'Mine' },
  'deals/ID/notes': { body: 'Mine' },
}

// All that the first workspace shows.
async function everything() {
  const names = ['companies', 'contacts', 'deals', 'activities', 'appointments', 'booking-pages', 'webhooks']
  const lists = [...names, 'trash', 'events', 'audit-log'].map(
    async (name) => (await call('GET', `${v1}/${name}?per_page=100`)).text,
  )
  return Promise.all(lists)
}

test('lists, totals and filters show the own workspace alone', async () => {
  const company = await made(call, 'companies', { name: 'Unseen' })
  const contact = await made(call, 'contacts', {
    first_name: 'Unseen',
    last_name: 'Person',
    company_id: company.id,
    stage: 'unseen',
  })
  const links = { company_id: company.id, contact_id: contact.id }
  await made(call, 'deals', { name: 'Unseen', ...links })
  await made(call, 'activities', { subject: 'Unseen', ...links })
  const times = { start_at: '2030-02-08T12:00:00Z', end_at: '2030-02-08T13:00:00Z' }
  await made(call, 'appointments', { title: 'Unseen', ...times, contact_id: contact.id })
  await call('DELETE', `${v1}/companies/${(await made(call, 'companies', { name: 'Trash' })).id}`)
  const filters = [
    'companies',
    'contacts',
    'deals',
    'webhooks',
    'deliveries',
    'contacts?search=unseen',
    'contacts?stage=unseen',
  ]
  filters.push(
    `contacts?company_id=${company.id}`,
    `deals?company_id=${company.id}`,
    `deals?contact_id=${contact.id}`,
    'deals?status=open',
    'activities',
    `activities?contact_id=${contact.id}`,
    'activities?type=task',
    'activities?status=open',
    'appointments',
    `appointments?contact_id=${contact.id}`,
    'appointments?status=scheduled',
    'booking-pages',
    'trash',
    'trash?kind=companies',
    'audit-log?kind=contacts',
    `audit-log?kind=contacts&record_id=${contact.id}`,
  )
  const third = await newWorkspace(rapport)
  for (const filter of filters) {
    const reply = await third('GET', `${v1}/${filter}`)
    assert.deepEqual(
      reply.body,
      { success: true, data: [], meta: { current_page: 1, last_page: 1, per_page: 25, total: 0 } },
      filter,
    )
  }
})

test("a reference to another workspace's record is 422 not_found, like one to a record that never was", async () => {
  const company = await made(call, 'companies', { name: 'Acme' })
  const contact = await made(call, 'contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const person = { first_name: 'Eve', last_name: 'Other' }
  const mine = await made(other, 'contacts', person)
  const deal = await made(other, 'deals', { name: 'Deal' })
  for (const [method, at, body] of [
    ['POST', 'contacts', person],
    ['PUT', `contacts/${mine.id}`, {}],
    ['POST', 'deals', { name: 'Deal' }],
    ['PUT', `deals/${deal.id}`, {}],
  ] as const)
    for (const company_id of [company.id, 999_999])
      assert.deepEqual(problems(await other(method, `${v1}/${at}`, { ...body, company_id })), {
        company_id: 'not_found',
      })
  assert.deepEqual(
    problems(await other('POST', `${v1}/deals`, { contact_id: contact.id, company_id: company.id })),
    {
      name: 'required',
      contact_id: 'not_found',
      company_id: 'not_found',
    },
  )
})

test('only the webhooks of its own workspace get a change', async () => {
  const everywhere = { name: 'Hook', url, events: ['company.created', 'company.updated', 'company.deleted'] }
  const foreign = await made(other, 'webhooks', everywhere)
  const mine = await made(call, 'webhooks', everywhere)
  const { id } = await made(call, 'companies', { name: 'Acme' })
  await call('PUT', `${v1}/companies/${id}`, { name: 'Other' })
  await call('DELETE', `${v1}/companies/${id}`)
  const stored = await readStored(rapport.data_dir)
  const sent = async (webhook_id: string) =>
    (await stored.rows('SELECT event FROM webhook_deliveries WHERE webhook_id = ?', webhook_id)).length
  assert.deepEqual([await sent(mine.id), await sent(foreign.id)], [3, 0])
  await stored.close()
})
