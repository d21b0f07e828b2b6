import { type Client, createClient } from './generated/hey/client/index.ts'
import * as api from './generated/hey/sdk.gen.ts'
import { same, type Where } from './same.ts'

/** The main job through a client of @hey-api/openapi-ts. */
export async function useHey({ url, key }: Where): Promise<void> {
  const client = createClient({ baseUrl: url, auth: key })
  const company = await api.createCompany({ client, body: { name: 'Søren & Söhne' }, throwOnError: true })
  const { id: company_id } = company.data.data
  const made = await api.createContact({
    client,
    body: { first_name: 'Zoë', last_name: "O'Neill", company_id, custom_fields: { region: 'EMEA' } },
    throwOnError: true,
  })
  const { id } = made.data.data
  const etag = made.response.headers.get('etag') ?? ''
  const changed = await api.updateContact({
    client,
    path: { id },
    headers: { 'If-Match': etag },
    body: { stage: 'lead' },
    throwOnError: true,
  })
  same(changed.data.data.stage, 'lead')
  const stale = await api.updateContact({
    client,
    path: { id },
    headers: { 'If-Match': etag },
    body: { stage: 'x' },
  })
  same([stale.response?.status, stale.error?.error.code], [412, 'precondition_failed'])
  const refused = await api.createContact({ client, body: { first_name: '', last_name: 'X' } })
  same(
    refused.error?.error.code === 'validation_failed' && refused.error.error.fields?.[0]?.field,
    'first_name',
  )
  const listed = await api.listContacts({
    client,
    query: { company_id, per_page: 10, custom_fields: { region: 'EMEA' } },
    throwOnError: true,
  })
  same([listed.data.data.map((one) => one.last_name), listed.data.meta.total], [["O'Neill"], 1])
  const deal = await api.createDeal({
    client,
    body: { name: 'Lamps', value: 1250.5, contact_id: id },
    throwOnError: true,
  })
  const moved = await api.changeDealStage({
    client,
    path: { id: deal.data.data.id },
    body: { stage: 'won' },
    throwOnError: true,
  })
  same(moved.data.data.status, 'won')
  const exported = await api.exportContacts({
    client,
    query: { format: 'csv' },
    parseAs: 'text',
    throwOnError: true,
  })
  same(String(exported.data).includes("O'Neill"), true)
  const removed = await api.deleteContact({ client, path: { id }, throwOnError: true })
  same(removed.response.status, 200)
  same((await api.getContact({ client, path: { id } })).response?.status, 404)
  await useAll(client)
}

/** The calls of every kind of record: create, change, list and batch. */
async function useAll(client: Client): Promise<void> {
  const given = { client, throwOnError: true } as const
  const company = await api.createCompany({ ...given, body: { name: 'Hey & Co' } })
  const { id: company_id } = company.data.data
  await api.updateCompany({ ...given, path: { id: company_id }, body: { industry: 'Hay', website: null } })
  const query = { industry: 'Hay', created_at_from: '2026-01-01' }
  const companies = await api.listCompanies({ ...given, query })
  same(
    companies.data.data.map(({ id }) => id),
    [company_id],
  )
  const more = await api.batchCompanies({
    ...given,
    body: { items: [{ op: 'update', id: company_id, data: { phone: '1' } }] },
  })
  same(more.data.meta.updated, 1)
  const batch = await api.batchContacts({
    ...given,
    body: { items: [{ op: 'create', data: { first_name: 'Ana', last_name: 'Ruiz', company_id } }] },
  })
  same(
    batch.data.data.map(({ status }) => status),
    ['created'],
  )
  const deal = await api.createDeal({ ...given, body: { name: 'Hay', company_id, stage: null } })
  const { id: deal_id } = deal.data.data
  await api.updateDeal({ ...given, path: { id: deal_id }, body: { stage: 'demo', probability: null } })
  const deals = await api.listDeals({ ...given, query: { company_id, stage: 'demo' } })
  same(
    deals.data.data.map(({ id }) => id),
    [deal_id],
  )
  const changed = await api.batchDeals({ ...given, body: { items: [{ op: 'delete', id: deal_id }] } })
  same(changed.data.meta.deleted, 1)
  const activity = await api.createActivity({ ...given, body: { subject: 'Call', type: null, company_id } })
  const { id: activity_id } = activity.data.data
  await api.updateActivity({ ...given, path: { id: activity_id }, body: { type: 'call' } })
  const activities = await api.listActivities({ ...given, query: { company_id, type: 'call' } })
  same(
    activities.data.data.map(({ id }) => id),
    [activity_id],
  )
  const done = await api.batchActivities({ ...given, body: { items: [{ op: 'delete', id: activity_id }] } })
  same(done.data.meta.deleted, 1)
  const time = { start_at: '2030-02-09T12:00:00Z', end_at: '2030-02-09T13:00:00Z' }
  const visit = await api.createAppointment({ ...given, body: { title: 'Visit', ...time } })
  const { id } = visit.data.data
  const moved = await api.updateAppointment({ ...given, path: { id }, body: { location: 'Here' } })
  same(moved.data.data.location, 'Here')
  const found = await api.listAppointments({ ...given, query: { start_at_from: '2030-02-09' } })
  same(
    found.data.data.map((one) => one.id),
    [id],
  )
}
