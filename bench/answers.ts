import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32 } from 'node:zlib'

// The bare servers share node:http and answers with the same bytes as Rapport's for the same requests, with entity tags and
// request ids. They do not check keys, input or limits, and store no event, no audit entry and no totals. Totals that
// Rapport stored before remain.

/** A contact's row, with its company as k_id, k_name and k_website, and the names of its authors. */
export type Row = Record<string, string | number | null>

type Answer<T> = (rows: T) => void
type List = (rows: Row[], total: number) => void
/** The queries of a bare server. Callbacks, so that a synchronous query needs no promise. */
export type Store = {
  one(id: number, answer: Answer<Row>): void
  page(offset: number, answer: List): void
  ofCompany(company_id: number, answer: List): void
  search(word: string, answer: List): void
  create(values: { first_name: string; last_name: string; email: string }, answer: Answer<Row>): void
  update(id: number, values: { phone: string }, answer: Answer<Row>): void
}

/** The columns of the list view and, with `details`, of the detail view. */
export const listed =
  'c.id, c.first_name, c.last_name, c.email, c.phone, c.stage, c.created_at, c.owner_id, c.last_contacted_at, c.next_activity_at, c.open_deals_units, k.id AS k_id, k.name AS k_name'
export const details =
  'c.mobile, c.title, c.source, c.custom_fields, c.tags, c.updated_at, k.website AS k_website, c.created_by, made.name AS made_name, c.updated_by, changed.name AS changed_name'
/** The authors of the seeded contacts, and of those that a bare server writes, are API keys. */
export const authors =
  'LEFT JOIN api_keys made ON made.id = c.created_by LEFT JOIN api_keys changed ON changed.id = c.updated_by'

/** The API key of the requests, which is their author. */
export type Key = { id: string; name: string }
export const key_text = 'SELECT id, name FROM api_keys'

/** The row of a new contact. Fields that were not sent are null. */
export const created = ({ id, name }: Key, row: Row): Row => ({
  phone: null,
  stage: null,
  k_id: null,
  mobile: null,
  title: null,
  source: null,
  tags: '[]',
  custom_fields: '{}',
  owner_id: null,
  last_contacted_at: null,
  next_activity_at: null,
  open_deals_units: 0,
  created_by: id,
  made_name: name,
  updated_by: id,
  changed_name: name,
  ...row,
})

const author = (id: Row[string] | undefined, name: Row[string] | undefined) =>
  id === null ? null : { kind: 'key', id, name }

const item = (row: Row) => ({
  id: row.id,
  first_name: row.first_name,
  last_name: row.last_name,
  email: row.email,
  phone: row.phone,
  company_id: row.k_id,
  company: row.k_id === null ? null : { id: row.k_id, name: row.k_name },
  stage: row.stage,
  created_at: row.created_at,
  owner_id: row.owner_id,
  last_contacted_at: row.last_contacted_at,
  next_activity_at: row.next_activity_at,
  open_deals_value: Number(row.open_deals_units) / 10_000,
})
const detail = (row: Row) => ({
  id: row.id,
  first_name: row.first_name,
  last_name: row.last_name,
  email: row.email,
  phone: row.phone,
  mobile: row.mobile,
  company_id: row.k_id,
  company: row.k_id === null ? null : { id: row.k_id, name: row.k_name, website: row.k_website },
  title: row.title,
  stage: row.stage,
  source: row.source,
  custom_fields: JSON.parse(String(row.custom_fields)),
  tags: JSON.parse(String(row.tags)),
  created_at: row.created_at,
  updated_at: row.updated_at,
  owner_id: row.owner_id,
  last_contacted_at: row.last_contacted_at,
  next_activity_at: row.next_activity_at,
  open_deals_value: Number(row.open_deals_units) / 10_000,
  created_by: author(row.created_by, row.made_name),
  updated_by: author(row.updated_by, row.changed_name),
})
const per_page = 25
const list = (rows: Row[], total: number, page: number) => ({
  success: true,
  data: rows.map(item),
  meta: { current_page: page, last_page: Math.max(1, Math.ceil(total / per_page)), per_page, total },
})

/** Serves the store on a free port, and prints its address. */
export function serve(store: Store): void {
  let requests = 0
  const server = createServer((request, response) => {
    const send = (body: string, status = 200, more = {}) => {
      response.writeHead(status, {
        'x-request-id': `req_${requests++}`,
        ...more,
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
    }
    const sendOne = (row: Row, status = 200) => {
      const text = JSON.stringify(detail(row))
      const etag = `"${row.updated_at}${crc32(text).toString(36)}.${text.length.toString(36)}"`
      send(`{"success":true,"data":${text}}`, status, { etag })
    }
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const id = Number(path.split('/')[4])
    if (request.method !== 'GET') {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        const values = JSON.parse(body)
        if (id) store.update(id, values, (row) => sendOne(row))
        else store.create(values, (row) => sendOne(row, 201))
      })
      return
    }
    if (id) return store.one(id, (row) => sendOne(row))
    const asked = new URLSearchParams(query)
    const page = Number(asked.get('page') ?? 1)
    const sendList: List = (rows, total) => send(JSON.stringify(list(rows, total, page)))
    const word = asked.get('search')
    const company_id = Number(asked.get('company_id'))
    if (word) store.search(word, sendList)
    else if (company_id) store.ofCompany(company_id, sendList)
    else store.page((page - 1) * per_page, sendList)
  })
  server.listen(0, '127.0.0.1', () =>
    console.log(`The bare server serves http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  )
}
