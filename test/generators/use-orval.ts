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
  } finally {
    globalThis.fetch = plain
  }
}
