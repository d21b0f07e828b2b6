import * as api from './generated/orval.ts'
import { same, type Where } from './same.ts'

/** The main job through a client of orval. */
export async function useOrval({ url, key }: Where): Promise<void> {
  // Its functions have paths without a host.
  const plain = globalThis.fetch
  globalThis.fetch = (path, init) => plain(new URL(String(path), url), init)
  const authorized = { headers: { authorization: `Bearer ${key}` } }
  try {
    const company = await api.createCompany({ name: 'Søren & Söhne' }, authorized)
    if (company.status !== 201) throw new Error(JSON.stringify(company))
    const company_id = company.data.data.id
    const body = { first_name: 'Zoë', last_name: "O'Neill", company_id, custom_fields: { region: 'EMEA' } }
    const made = await api.createContact(body, authorized)
    if (made.status !== 201) throw new Error(JSON.stringify(made))
    const { id } = made.data.data
    const match = { headers: { ...authorized.headers, 'If-Match': made.headers.get('etag') ?? '' } }
    const changed = await api.updateContact(id, { stage: 'lead' }, match)
    same(changed.status === 200 && changed.data.data.stage, 'lead')
    same((await api.updateContact(id, { stage: 'x' }, match)).status, 412)
    const refused = await api.createContact({ first_name: '', last_name: 'X' }, authorized)
    same(refused.status === 422 && refused.data.error.fields?.[0]?.field, 'first_name')
    const listed = await api.listContacts({ company_id, per_page: 10 }, authorized)
    if (listed.status !== 200) throw new Error(JSON.stringify(listed))
    same([listed.data.data.map((one) => one.last_name), listed.data.meta.total], [["O'Neill"], 1])
    const deal = await api.createDeal({ name: 'Lamps', value: 1250.5, contact_id: id }, authorized)
    if (deal.status !== 201) throw new Error(JSON.stringify(deal))
    const moved = await api.changeDealStage(deal.data.data.id, { stage: 'won' }, authorized)
    same(moved.status === 200 && moved.data.data.status, 'won')
    same((await api.deleteContact(id, authorized)).status, 200)
    same((await api.getContact(id, authorized)).status, 404)
    await useAll(authorized)
  } finally {
    globalThis.fetch = plain
  }
}

/** The calls of every kind of record: create, change, list and batch. */
async function useAll(authorized: { headers: { authorization: string } }): Promise<void> {
  const company = await api.createCompany({ name: 'Orval & Co' }, authorized)
  if (company.status !== 201) throw new Error(JSON.stringify(company))
  const company_id = company.data.data.id
  const changed = await api.updateCompany(company_id, { industry: 'Orval', website: null }, authorized)
  same(changed.status === 200 && changed.data.data.industry, 'Orval')
  const companies = await api.listCompanies({ industry: 'Orval', created_at_from: '2026-01-01' }, authorized)
  same(companies.status === 200 && companies.data.data.map(({ id }) => id), [company_id])
  const more = await api.batchCompanies(
    { items: [{ op: 'update', id: company_id, data: { phone: '1' } }] },
    undefined,
    authorized,
  )
  same(more.status === 200 && more.data.meta.updated, 1)
  const data = { first_name: 'Ana', last_name: 'Ruiz', company_id }
  const batch = await api.batchContacts({ items: [{ op: 'create', data }] }, undefined, authorized)
  same(batch.status === 200 && batch.data.data.map(({ status }) => status), ['created'])
  const deal = await api.createDeal({ name: 'Orval', company_id, stage: null }, authorized)
  if (deal.status !== 201) throw new Error(JSON.stringify(deal))
  const deal_id = deal.data.data.id
  const demo = await api.updateDeal(deal_id, { stage: 'demo', probability: null }, authorized)
  same(demo.status === 200 && demo.data.data.stage, 'demo')
  const deals = await api.listDeals({ company_id, stage: 'demo' }, authorized)
  same(deals.status === 200 && deals.data.data.map(({ id }) => id), [deal_id])
  const gone = await api.batchDeals({ items: [{ op: 'delete', id: deal_id }] }, undefined, authorized)
  same(gone.status === 200 && gone.data.meta.deleted, 1)
  const activity = await api.createActivity({ subject: 'Call', type: null, company_id }, authorized)
  if (activity.status !== 201) throw new Error(JSON.stringify(activity))
  const activity_id = activity.data.data.id
  const call = await api.updateActivity(activity_id, { type: 'call' }, authorized)
  same(call.status === 200 && call.data.data.type, 'call')
  const activities = await api.listActivities({ company_id, type: 'call' }, authorized)
  same(activities.status === 200 && activities.data.data.map(({ id }) => id), [activity_id])
  const done = await api.batchActivities(
    { items: [{ op: 'delete', id: activity_id }] },
    undefined,
    authorized,
  )
  same(done.status === 200 && done.data.meta.deleted, 1)
  const time = { start_at: '2030-04-09T12:00:00Z', end_at: '2030-04-09T13:00:00Z' }
  const visit = await api.createAppointment({ title: 'Visit', ...time }, authorized)
  if (visit.status !== 201) throw new Error(JSON.stringify(visit))
  const moved = await api.updateAppointment(visit.data.data.id, { location: 'Here' }, authorized)
  same(moved.status === 200 && moved.data.data.location, 'Here')
  const found = await api.listAppointments({ start_at_from: '2030-04-09' }, authorized)
  same(found.status === 200 && found.data.data.map(({ id }) => id), [visit.data.data.id])
}
