import assert from 'node:assert/strict'
import { isErrorFromAlias } from '@zodios/core'
import { createApiClient, schemas } from './generated/zodios.ts'
import { same, type Where } from './same.ts'

/** Every kind of record through a client of openapi-zod-client, which checks bodies and answers by its schemas. */
export async function useZodios({ url, key }: Where): Promise<void> {
  const api = createApiClient(url, { axiosConfig: { headers: { authorization: `Bearer ${key}` } } })

  const { id: company_id } = (await api.createCompany({ name: 'Søren & Söhne' })).data
  same(
    (await api.updateCompany({ industry: 'Lamps' }, { params: { id: company_id } })).data.industry,
    'Lamps',
  )
  const companies = await api.listCompanies({ queries: { industry: 'Lamps', created_at_from: '2026-01-01' } })
  same([companies.data.map(({ id }) => id), companies.meta.total], [[company_id], 1])
  const more = await api.batchCompanies({
    items: [
      { op: 'create', data: { name: 'Second' } },
      { op: 'update', id: company_id, data: { website: null } },
    ],
  })
  same([more.meta.created, more.meta.unchanged], [1, 1])

  const made = await api.createContact({ first_name: 'Zoë', last_name: "O'Neill", company_id, tags: ['vip'] })
  const { id: contact_id } = made.data
  same(
    (await api.updateContact({ stage: 'lead', phone: null }, { params: { id: contact_id } })).data.stage,
    'lead',
  )
  const contacts = await api.listContacts({ queries: { per_page: 10, company_id } })
  same(
    contacts.data.map(({ last_name }) => last_name),
    ["O'Neill"],
  )
  const batch = await api.batchContacts({
    items: [{ op: 'create', data: { first_name: 'Ana', last_name: 'Ruiz' } }],
  })
  same(
    batch.data.map(({ status }) => status),
    ['created'],
  )

  const deal = await api.createDeal({ name: 'Lamps', value: 1250.5, contact_id, stage: 'proposal' })
  const { id: deal_id } = deal.data
  same((await api.updateDeal({ stage: 'demo' }, { params: { id: deal_id } })).data.stage, 'demo')
  same((await api.changeDealStage({ stage: 'won' }, { params: { id: deal_id } })).data.status, 'won')
  // The types of Zodios end at 39 parameters, and this list has more. Its schemas have no limit.
  const { data: answer } = await api.axios.get('/api/v1/deals', { params: { status: 'won' } })
  same(
    schemas.DealsPage.parse(answer).data.map(({ id }) => id),
    [deal_id],
  )
  const deals = await api.batchDeals({ items: [{ op: 'create', data: { name: 'More', stage: 'demo' } }] })
  same(deals.meta.created, 1)

  const activity = await api.createActivity({ subject: 'Call', type: 'call', due_at: '2030-01-08T12:00:00Z' })
  same((await api.updateActivity({ type: 'task' }, { params: { id: activity.data.id } })).data.type, 'task')
  same((await api.listActivities()).data.length, 1)
  same((await api.batchActivities({ items: [{ op: 'delete', id: activity.data.id }] })).meta.deleted, 1)

  const start_at = '2030-01-08T12:00:00Z'
  const visit = await api.createAppointment({ title: 'Visit', start_at, end_at: '2030-01-08T13:00:00Z' })
  same(
    (await api.updateAppointment({ location: 'Here' }, { params: { id: visit.data.id } })).data.location,
    'Here',
  )
  same(
    (await api.listAppointments()).data.map(({ title }) => title),
    ['Visit'],
  )

  const webhook = await api.createWebhook({
    name: 'Billing',
    url: 'http://127.0.0.1:9/hook',
    events: ['deal.won'],
    format: null,
    conditions: [{ field: 'data.value', op: 'gte', value: 100 }],
  })
  same((await api.getWebhook({ params: { webhook_id: webhook.data.id } })).data.format, 'envelope')
  // Each event of the feed is one of the union of all events.
  const events = await api.listEvents({ queries: { event: 'deal.won' } })
  for (const event of events.data) {
    if (event.event !== 'deal.won') throw new Error(event.event)
    same(event.data.id, deal_id)
  }
  same(events.data.length, 1)
  await assert.rejects(
    api.getContact({ params: { id: 987654 } }),
    (error) =>
      isErrorFromAlias(api.api, 'getContact', error) && error.response.data?.error.code === 'not_found',
  )
}
