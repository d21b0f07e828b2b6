import * as api from './generated/oazapfts.ts'
import { same, type Where } from './same.ts'

/** The main job through a client of oazapfts. */
export async function useOazapfts({ url, key }: Where): Promise<void> {
  Object.assign(api.defaults, { baseUrl: url, headers: { authorization: `Bearer ${key}` } })
  const company = await api.createCompany({ name: 'Søren & Söhne' })
  if (company.status !== 201) throw new Error(JSON.stringify(company))
  const company_id = company.data.data.id
  const made = await api.createContact({
    first_name: 'Zoë',
    last_name: "O'Neill",
    company_id,
    custom_fields: { region: 'EMEA' },
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made))
  const { id } = made.data.data
  const changed = await api.updateContact(id, { stage: 'lead' }, { ifMatch: made.headers.get('etag') ?? '' })
  same(changed.status === 200 && changed.data.data.stage, 'lead')
  const refused = await api.createContact({ first_name: '', last_name: 'X' })
  same(refused.status === 422 && refused.data.error.fields?.[0]?.field, 'first_name')
  const listed = await api.listContacts({ companyId: company_id, perPage: 10 })
  if (listed.status !== 200) throw new Error(JSON.stringify(listed))
  same([listed.data.data.map((one) => one.last_name), listed.data.meta.total], [["O'Neill"], 1])
  const deal = await api.createDeal({ name: 'Lamps', value: 1250.5, contact_id: id })
  if (deal.status !== 201) throw new Error(JSON.stringify(deal))
  const moved = await api.changeDealStage(deal.data.data.id, { stage: 'won' })
  same(moved.status === 200 && moved.data.data.status, 'won')
  same((await api.deleteContact(id)).status, 200)
  same((await api.getContact(id)).status, 404)
  await useAll()
}

/** The calls of every kind of record: create, change, list and batch. */
async function useAll(): Promise<void> {
  const company = await api.createCompany({ name: 'Oats & Co' })
  if (company.status !== 201) throw new Error(JSON.stringify(company))
  const company_id = company.data.data.id
  const changed = await api.updateCompany(company_id, { industry: 'Oats', website: null })
  same(changed.status === 200 && changed.data.data.industry, 'Oats')
  const companies = await api.listCompanies({ industry: 'Oats', createdAtFrom: '2026-01-01' })
  same(companies.status === 200 && companies.data.data.map(({ id }) => id), [company_id])
  const more = await api.batchCompanies({ items: [{ op: 'update', id: company_id, data: { phone: '1' } }] })
  same(more.status === 200 && more.data.meta.updated, 1)
  const data = { first_name: 'Ana', last_name: 'Ruiz', company_id }
  const batch = await api.batchContacts({ items: [{ op: 'create', data }] })
  same(batch.status === 200 && batch.data.data.map(({ status }) => status), ['created'])
  const deal = await api.createDeal({ name: 'Oats', company_id, stage: null })
  if (deal.status !== 201) throw new Error(JSON.stringify(deal))
  const deal_id = deal.data.data.id
  const demo = await api.updateDeal(deal_id, { stage: 'demo', probability: null })
  same(demo.status === 200 && demo.data.data.stage, 'demo')
  const deals = await api.listDeals({ companyId: company_id, stage: 'demo' })
  same(deals.status === 200 && deals.data.data.map(({ id }) => id), [deal_id])
  const gone = await api.batchDeals({ items: [{ op: 'delete', id: deal_id }] })
  same(gone.status === 200 && gone.data.meta.deleted, 1)
  const activity = await api.createActivity({ subject: 'Call', type: null, company_id })
  if (activity.status !== 201) throw new Error(JSON.stringify(activity))
  const activity_id = activity.data.data.id
  const call = await api.updateActivity(activity_id, { type: 'call' })
  same(call.status === 200 && call.data.data.type, 'call')
  const activities = await api.listActivities({ companyId: company_id, $type: 'call' })
  same(activities.status === 200 && activities.data.data.map(({ id }) => id), [activity_id])
  const done = await api.batchActivities({ items: [{ op: 'delete', id: activity_id }] })
  same(done.status === 200 && done.data.meta.deleted, 1)
  const time = { start_at: '2030-03-09T12:00:00Z', end_at: '2030-03-09T13:00:00Z' }
  const visit = await api.createAppointment({ title: 'Visit', ...time })
  if (visit.status !== 201) throw new Error(JSON.stringify(visit))
  const moved = await api.updateAppointment(visit.data.data.id, { location: 'Here' })
  same(moved.status === 200 && moved.data.data.location, 'Here')
  const found = await api.listAppointments({ startAtFrom: '2030-03-09' })
  same(found.status === 200 && found.data.data.map(({ id }) => id), [visit.data.data.id])
}
