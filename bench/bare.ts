import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

// The limit that Rapport is measured against: node:http and node:sqlite with prepared statements and nothing else. It
// sends the same bytes for the same four requests, but checks no key, no input and no limit, and writes no event.

const [file = '', port = '0'] = process.argv.slice(2)
const pragmas =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY'
const writer = new DatabaseSync(file)
const reader = new DatabaseSync(file)
for (const connection of [writer, reader]) connection.exec(pragmas)

const listed =
  'c.id, c.first_name, c.last_name, c.email, c.phone, c.stage, c.created_at, k.id AS k_id, k.name AS k_name'
const joined = `FROM contacts c LEFT JOIN companies k ON k.id = c.company_id AND k.deleted_at IS NULL`
const one = reader.prepare(
  `SELECT ${listed}, c.mobile, c.title, c.source, c.custom_fields, c.tags, c.updated_at, k.website AS k_website ${joined} WHERE c.workspace_id = 1 AND c.id = ? AND c.deleted_at IS NULL`,
)
const page = reader.prepare(
  `SELECT ${listed} ${joined} WHERE c.id IN (SELECT id FROM contacts WHERE workspace_id = 1 AND deleted_at IS NULL ORDER BY id DESC LIMIT 25) ORDER BY c.id DESC`,
)
const total = reader.prepare("SELECT n FROM record_counts WHERE workspace_id = 1 AND name = 'contacts'")
const matches = reader.prepare(
  'SELECT rowid AS id FROM contacts_search WHERE contacts_search MATCH ? ORDER BY rowid DESC LIMIT 2001',
)
const found = reader.prepare(
  `SELECT ${listed} ${joined} WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id DESC`,
)
const insert = writer.prepare(
  'INSERT INTO contacts (workspace_id, first_name, last_name, email, search_text, created_at, updated_at) VALUES (1, ?, ?, ?, ?, ?, ?)',
)
const count = writer.prepare(
  "UPDATE record_counts SET n = n + 1 WHERE workspace_id = 1 AND name = 'contacts'",
)

type Row = Record<string, string | number | null>
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
  ...item(row),
  company: row.k_id === null ? null : { id: row.k_id, name: row.k_name, website: row.k_website },
  mobile: row.mobile,
  title: row.title,
  source: row.source,
  custom_fields: JSON.parse(String(row.custom_fields)),
  tags: JSON.parse(String(row.tags)),
  updated_at: row.updated_at,
})
const list = (rows: Row[], n: number) => ({
  success: true,
  data: rows.map(item),
  meta: { current_page: 1, last_page: Math.max(1, Math.ceil(n / 25)), per_page: 25, total: n },
})

// Creates that arrive in one turn of the loop share a commit, as Rapport's do.
let waiting: { body: string; send: (answer: object) => void }[] = []
function commit() {
  const group = waiting
  waiting = []
  writer.exec('BEGIN IMMEDIATE')
  const answers = group.map(({ body }) => {
    const { first_name, last_name, email } = JSON.parse(body)
    const now = new Date().toISOString()
    const text = `${first_name}\n${last_name}\n${email}`.toLowerCase()
    const { lastInsertRowid: id } = insert.run(first_name, last_name, email, text, now, now)
    count.run()
    const rest = { phone: null, stage: null, k_id: null, mobile: null, title: null, source: null, tags: '[]' }
    return detail({
      id: Number(id),
      first_name,
      last_name,
      email,
      custom_fields: '{}',
      created_at: now,
      updated_at: now,
      ...rest,
    })
  })
  writer.exec('COMMIT')
  for (const [index, { send }] of group.entries()) send({ success: true, data: answers[index] })
}

const server = createServer((request, response) => {
  const send = (answer: object, status = 200) => {
    const body = JSON.stringify(answer)
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
  }
  if (request.method === 'POST') {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (!waiting.length) setImmediate(commit)
      waiting.push({ body, send: (answer) => send(answer, 201) })
    })
    return
  }
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const id = path.split('/')[4]
  if (id) return send({ success: true, data: detail(one.get(Number(id)) as Row) })
  const word = new URLSearchParams(query).get('search')
  if (!word) return send(list(page.all() as Row[], Number(total.get()?.n)))
  const ids = matches.all(`"${word}"`).map((row) => row.id)
  send(list(found.all(JSON.stringify(ids.slice(0, 25))) as Row[], ids.length))
})
server.listen(Number(port), '127.0.0.1', () =>
  process.send?.({ port: (server.address() as { port: number }).port }),
)
