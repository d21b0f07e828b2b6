import assert from 'node:assert/strict'
import { readDemoData } from '../../demo/data.ts'
import { dataOf } from '../envelope.ts'
import type { client, Rapport } from '../harness.ts'
import { startRequests } from '../valid-requests.ts'
import { act, register, until } from '../webhooks.ts'

type Call = ReturnType<typeof client>

export const secret_key = 'the key of the kept databases, which protects nothing'

/** The facts of a kept database that a test must know. */
export type Kept = {
  /** The wall clock when the database was written, in milliseconds since 1970. */
  now: number
  key: string
  /** The webhook that is paused, with a delivery that waits, and its secret. */
  paused: { id: string; secret: string }
  /** The answers of the version that wrote it, by path. */
  answers: Record<string, unknown>
}

/** Fills a new installation as people would, and delivers to two receivers: one that accepts, and one that fails. */
export async function fillInstallation(
  rapport: Rapport,
  hooks: { good: string; bad: string },
): Promise<Kept['paused']> {
  const { call } = rapport
  const { make } = await startRequests(rapport)
  async function post(path: string, body: object): Promise<{ id: number }> {
    return dataOf(await call('POST', `/api/v1/${path}`, body))
  }
  const { companies, contacts, deals } = readDemoData()
  await register(call, { url: hooks.good, events: ['contact.created', 'deal.won'] })
  await register(call, { url: hooks.bad, events: ['company.created'] })
  const ids = new Map<string | undefined, number>()
  for (const { key, body } of companies.slice(0, 15)) ids.set(key, (await post('companies', body)).id)
  for (const { key, company, body } of contacts.slice(0, 60))
    ids.set(key, (await post('contacts', { ...body, company_id: ids.get(company) ?? null })).id)
  for (const [at, { company, contact, body, moves }] of deals.slice(0, 30).entries()) {
    const references = { company_id: ids.get(company) ?? null, contact_id: ids.get(contact) ?? null }
    // Four decimals, and the largest value.
    const value = at === 0 ? 99_999_999_999.9999 : 1000.0001 * (at + 1)
    const { id } = await post('deals', { ...body, ...references, value: Number(value.toFixed(4)) })
    for (const move of moves) await post(`deals/${id}/change-stage`, move)
  }
  const long = 'Ωμέγα 👩‍💻 "quoted" \\ %_ '.repeat(12).slice(0, 255).toWellFormed().trim()
  const first = await post('contacts', { first_name: long, last_name: 'Ünïcødé-Smythe', tags: ['größe'] })
  await post(`contacts/${first.id}/notes`, { body: `${long}\n`.repeat(20) })
  await call('PUT', `/api/v1/contacts/${first.id}`, { title: 'Professor', custom_fields: { größe: 1.5 } })
  for (const path of ['/activities', '/appointments', '/booking-pages', '/views']) await make(path)
  await make('/activities', { contact_id: first.id })
  const gone = await post('contacts', { first_name: 'In', last_name: 'Trash' })
  await call('DELETE', `/api/v1/contacts/${gone.id}`)

  await until(
    async () => (await call('GET', '/api/v1/deliveries?status=pending&per_page=1')).body.meta.total,
    0,
  )
  const { id, secret } = await register(call, { url: hooks.good, events: ['company.updated'] })
  await act(call, id, 'pause')
  await call('PUT', '/api/v1/companies/1', { industry: 'Tests' })
  return { id, secret }
}

const lists = [
  'contacts?per_page=100',
  'contacts?sort=last_name&per_page=100',
  'contacts?search=ruth',
  'contacts?search=%C3%9Cn%C3%AFc',
  'contacts?search=o%27s',
  'companies?per_page=100&sort=name',
  'companies?search=ltd',
  'deals?per_page=100&sort=-value',
  'deals?stage=won',
  'deals?search=energy',
  'activities',
  'appointments',
  'booking-pages',
  'reports/pipeline',
  'events?per_page=100',
  'deliveries?per_page=100',
  'deliveries?status=failed',
  'audit-log?per_page=100',
  'trash',
  'webhooks',
]

/** Reads lists, searches, totals, the feed, the delivery log, and some records with their timelines and attempts. */
export async function readInstallation(call: Call): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  async function read(path: string): Promise<{ id: string | number }[]> {
    const reply = await call('GET', `/api/v1/${path}`)
    assert.equal(reply.status, 200, `${path}: ${reply.text}`)
    answers[path] = reply.body
    return reply.body.data
  }
  for (const path of lists) await read(path)
  for (const kind of ['contacts', 'companies', 'deals', 'deliveries', 'activities'])
    for (const { id } of (await read(`${kind}?per_page=5`)).slice(0, 5)) {
      await read(`${kind}/${id}`)
      if (kind === 'contacts') await read(`contacts/${id}/notes`)
      if (['contacts', 'companies', 'deals'].includes(kind)) await read(`${kind}/${id}/timeline`)
    }
  return answers
}
