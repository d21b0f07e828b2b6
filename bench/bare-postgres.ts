import pg from 'pg'
import { created, details, listed, type Row, serve } from './answers.ts'

// The baseline for Rapport on PostgreSQL: node:http and the same driver, with prepared statements and a pool of the same
// size.

const [connectionString = '', pool_size = '10'] = process.argv.slice(2)
const { builtins } = pg.types
const pool = new pg.Pool({
  connectionString,
  max: Number(pool_size),
  idleTimeoutMillis: 300_000,
  types: {
    getTypeParser: ((oid: number, format?: 'text') =>
      oid === builtins.INT8 || oid === builtins.NUMERIC
        ? Number
        : pg.types.getTypeParser(oid, format)) as never,
  },
})

const joined =
  'FROM contacts c LEFT JOIN companies k ON k.workspace_id = c.workspace_id AND k.id = c.company_id AND k.deleted_at IS NULL'
const statement = (name: string, text: string) => (values: unknown[]) => ({ name, text, values })
const one = statement(
  'one',
  `SELECT ${listed}, ${details} ${joined} WHERE c.workspace_id = $1 AND c.id = $2 AND c.deleted_at IS NULL`,
)
const page = statement(
  'page',
  `SELECT ${listed} ${joined} WHERE c.workspace_id = $1 AND c.deleted_at IS NULL ORDER BY c.id DESC LIMIT 25`,
)
const total = statement(
  'total',
  "SELECT sum(n) AS n FROM record_counts WHERE workspace_id = $1 AND name = 'contacts'",
)
const search = statement(
  'search',
  `SELECT ${listed}, count(*) OVER () AS n ${joined} WHERE c.workspace_id = $1 AND c.deleted_at IS NULL AND c.search_text LIKE $2 ORDER BY c.id DESC LIMIT 25`,
)
const insert = statement(
  'insert',
  'INSERT INTO contacts (workspace_id, first_name, last_name, email, search_text, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id',
)
const count = statement(
  'count',
  "INSERT INTO record_counts (workspace_id, name, slot, n) VALUES ($1, 'contacts', pg_backend_pid() % 64, 1) ON CONFLICT (workspace_id, name, slot) DO UPDATE SET n = record_counts.n + 1",
)

const rowsOf = async (query: pg.QueryConfig): Promise<Row[]> => (await pool.query(query)).rows

serve({
  async one(id, answer) {
    const [row] = await rowsOf(one([1, id]))
    answer(row as Row)
  },
  async page(answer) {
    const [rows, [sum]] = await Promise.all([rowsOf(page([1])), rowsOf(total([1]))])
    answer(rows, Number(sum?.n))
  },
  async search(word, answer) {
    const rows = await rowsOf(search([1, `%${word}%`]))
    answer(rows, Number(rows[0]?.n ?? 0))
  },
  async create({ first_name, last_name, email }, answer) {
    const now = new Date().toISOString()
    const text = `${first_name}\n${last_name}\n${email}`.toLowerCase()
    const client = await pool.connect()
    const values = [1, first_name, last_name, email, text, now]
    await client.query('BEGIN')
    const { rows } = await client.query(insert(values))
    await client.query(count([1]))
    await client.query('COMMIT')
    client.release()
    const { id } = rows[0]
    answer(created({ id, first_name, last_name, email, created_at: now, updated_at: now }))
  },
})
