import { createServer } from 'node:http'

// The bare servers share node:http and answers with the same bytes as Rapport's for the same four requests. They do not
// check keys, input or limits.

/** A contact's row, with its company's columns as k_id, k_name and k_website. */
export type Row = Record<string, string | number | null>

type Answer<T> = (rows: T) => void
/** The queries of a bare server. Callbacks, so that a synchronous query needs no promise. */
export type Store = {
  one(id: number, answer: Answer<Row>): void
  page(answer: (rows: Row[], total: number) => void): void
  search(word: string, answer: (rows: Row[], total: number) => void): void
  create(values: { first_name: string; last_name: string; email: string }, answer: Answer<Row>): void
}

/** The columns of the list view and, with `details`, of the detail view. */
export const listed =
  'c.id, c.first_name, c.last_name, c.email, c.phone, c.stage, c.created_at, k.id AS k_id, k.name AS k_name'
export const details =
  'c.mobile, c.title, c.source, c.custom_fields, c.tags, c.updated_at, k.website AS k_website'

/** The row of a new contact. Fields that were not sent are null. */
export const created = (row: Row): Row => ({
  phone: null,
  stage: null,
  k_id: null,
  mobile: null,
  title: null,
  source: null,
  tags: '[]',
  custom_fields: '{}',
  ...row,
})

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
})
const list = (rows: Row[], n: number) => ({
  success: true,
  data: rows.map(item),
  meta: { current_page: 1, last_page: Math.max(1, Math.ceil(n / 25)), per_page: 25, total: n },
})

/** Serves the store on a free port, and sends the port to the parent process. */
export function serve(store: Store): void {
  const server = createServer((request, response) => {
    const send = (answer: object, status = 200) => {
      const body = JSON.stringify(answer)
      response.writeHead(status, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
    }
    const sendList = (rows: Row[], total: number) => send(list(rows, total))
    if (request.method === 'POST') {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () =>
        store.create(JSON.parse(body), (row) => send({ success: true, data: detail(row) }, 201)),
      )
      return
    }
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const id = path.split('/')[4]
    if (id) return store.one(Number(id), (row) => send({ success: true, data: detail(row) }))
    const word = new URLSearchParams(query).get('search')
    if (word) store.search(word, sendList)
    else store.page(sendList)
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }))
}
