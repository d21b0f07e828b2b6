import { setConfig } from '@kubb/plugin-client/clients/fetch'
import * as api from './generated/kubb/index.ts'
import { same, type Where } from './same.ts'

/** Every kind of record through a client of kubb, which checks bodies and answers by its schemas. */
export async function useKubb({ url, key }: Where): Promise<void> {
  // The client sends JSON without saying so.
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  setConfig({ baseURL: url, headers })

  const { id: company_id } = (await api.createCompany({ name: 'Kubb & Co' })).data.data
  same((await api.updateCompany(company_id, { industry: 'Wood' })).data.data.industry, 'Wood')
  const companies = await api.listCompanies({ industry: 'Wood', created_at_from: '2026-01-01' })
  same([companies.data.data.map(({ id }) => id), companies.data.meta.total], [[company_id], 1])
  const more = await api.batchCompanies({
    items: [
      { op: 'create', data: { name: 'Second' } },
      { op: 'update', id: company_id, data: { website: null } },
    ],
  })
  same([more.data.meta.created, more.data.meta.unchanged], [1, 1])

  const made = await api.createContact({ first_name: 'Zoë', last_name: "O'Neill", company_id, tags: ['vip'] })
  const { id: contact_id } = made.data.data
  const match = { 'If-Match': made.headers.get('etag') ?? '' }
  same((await api.updateContact(contact_id, { stage: 'lead', phone: null }, match)).data.data.stage, 'lead')
  const contacts = await api.listContacts({ per_page: 10, company_id })
  same(
    contacts.data.data.map(({ last_name }) => last_name),
    ["O'Neill"],
  )
  const batch = await api.batchContacts({
    items: [{ op: 'create', data: { first_name: 'Ana', last_name: 'Ruiz' } }],
  })
  same(
    batch.data.data.map(({ status }) => status),
    ['created'],
  )

  const deal = await api.createDeal({ name: 'Lamps', value: 1250.5, contact_id, stage: 'proposal' })
  const { id: deal_id } = deal.data.data
  same((await api.updateDeal(deal_id, { stage: 'demo' })).data.data.stage, 'demo')
  same((await api.changeDealStage(deal_id, { stage: 'won' })).data.data.status, 'won')
  same(
    (await api.listDeals({ contact_id, status: 'won' })).data.data.map(({ id }) => id),
    [deal_id],
  )
  same(
    (await api.batchDeals({ items: [{ op: 'create', data: { name: 'More', stage: 'demo' } }] })).data.meta
      .created,
    1,
  )

  const activity = await api.createActivity({ subject: 'Call', type: 'call', due_at: '2030-01-08T12:00:00Z' })
  const { id: activity_id } = activity.data.data
  same((await api.updateActivity(activity_id, { type: 'task' })).data.data.type, 'task')
  same(
    (await api.listActivities({ type: 'task' })).data.data.map(({ id }) => id),
    [activity_id],
  )
  same((await api.batchActivities({ items: [{ op: 'delete', id: activity_id }] })).data.meta.deleted, 1)

  const visit = await api.createAppointment({
    title: 'Visit',
    start_at: '2030-01-09T12:00:00Z',
    end_at: '2030-01-09T13:00:00Z',
    contact_id,
  })
  const { id: visit_id } = visit.data.data
  same((await api.updateAppointment(visit_id, { location: 'Here' })).data.data.location, 'Here')
  same(
    (await api.listAppointments({ contact_id })).data.data.map(({ id }) => id),
    [visit_id],
  )

  const webhook = await api.createWebhook({
    name: 'Billing',
    url: 'http://127.0.0.1:9/hook',
    events: ['deal.won'],
    format: null,
    conditions: [{ field: 'data.value', op: 'gte', value: 100 }],
  })
  same((await api.getWebhook(webhook.data.data.id)).data.data.format, 'envelope')
  const events = await api.listEvents({ event: 'deal.won', sort: '-timestamp', per_page: 1 })
  for (const event of events.data.data) {
    if (event.event !== 'deal.won') throw new Error(event.event)
    same(event.data.id, deal_id)
  }
  same(events.data.data.length, 1)
}
