import { createClient } from './generated/hey/client/index.ts'
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
}
