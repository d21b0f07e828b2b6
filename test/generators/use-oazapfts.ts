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
}
