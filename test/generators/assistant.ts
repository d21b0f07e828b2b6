import assert from 'node:assert/strict'
import { same } from './same.ts'

type Call = (name: string, given: Record<string, unknown>) => Promise<unknown>

/** The work of an assistant with the tools of an adapter. Each call leaves out what may be left out. */
export async function assist(call: Call): Promise<void> {
  const use = async (name: string, given: Record<string, unknown> = {}) => {
    const answer = await call(name, given)
    const known = typeof answer === 'object' && answer !== null && 'structuredContent' in answer
    return JSON.parse(JSON.stringify(known ? answer.structuredContent : answer))
  }
  const company = await use('create_company', { name: 'Chains' })
  const company_id = company.data.id
  const made = await use('create_contact', { first_name: 'Ada', last_name: 'Chain', phone: '1', company_id })
  const { id } = made.data
  const changed = await use('update_contact', { id, stage: 'lead', clear: ['phone', 'company_id'] })
  same([changed.data.stage, changed.data.phone, changed.data.company_id], ['lead', null, null])
  // A day in place of a time.
  const found = await use('find_contacts', { search: 'Ada Chain', created_at_from: '2026-01-01' })
  same(found.meta.total, 1)
  for (const kind of ['companies', 'deals', 'activities', 'appointments'])
    same((await use(`find_${kind}`)).meta.current_page, 1)
  for (const name of ['list_custom_fields', 'list_changes', 'activity_report', 'pipeline_report'])
    assert.ok((await use(name)).data, name)
  assert.ok((await use('contact_timeline', { id })).data)
  same((await use('delete_contact', { id, dry_run: true })).dry_run, true)
  await use('delete_contact', { id })
  await use('delete_company', { id: company_id })
}
