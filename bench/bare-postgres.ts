import pg from 'pg'
import { authors, created, details, type Key, key_text, listed, type Row, serve } from './answers.ts'

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

const companies =
  'LEFT JOIN companies k ON k.workspace_id = c.workspace_id AND k.id = c.company_id AND k.deleted_at IS NULL'
const joined = `FROM contacts c ${companies}`
const statement = (name: string, text: string) => (values: unknown[]) => ({ name, text, values })
const one = statement(
  'one',
  `SELECT ${listed}, ${details} ${joined} ${authors} WHERE c.workspace_id = $1 AND c.id = $2 AND c.deleted_at IS NULL`,
)
const newest = (where: string) =>
  `SELECT ${listed} ${joined} WHERE c.id IN (SELECT id FROM contacts WHERE workspace_id = $1 AND deleted_at IS NULL ${where}) ORDER BY c.id DESC`
const page = statement('page', newest('ORDER BY id DESC LIMIT 25 OFFSET $2'))
const ofCompany = statement('of_company', newest('AND company_id = $2 ORDER BY id DESC LIMIT 25'))
const totalOfCompany = statement(
  'total_of_company',
  'SELECT count(*) AS n FROM contacts WHERE workspace_id = $1 AND deleted_at IS NULL AND company_id = $2',
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
  'INSERT INTO contacts (workspace_id, first_name, last_name, email, search_text, sort_name, created_at, updated_at, created_by, updated_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $8) RETURNING id',
)
const update = statement(
  'update',
  `WITH c AS (UPDATE contacts SET phone = $3, updated_at = $4, updated_by = $5 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING *) SELECT ${listed}, ${details} FROM c ${companies} ${authors}`,
)

const key: Key = (await pool.query(key_text)).rows[0]
await pool.query('DROP TRIGGER IF EXISTS contacts_block_insert ON contacts')

const rowsOf = async (query: pg.QueryConfig): Promise<Row[]> => (await pool.query(query)).rows

serve({
  async one(id, answer) {
    const [row] = await rowsOf(one([1, id]))
    answer(row as Row)
  },
  async page(offset, answer) {
    const [rows, [sum]] = await Promise.all([rowsOf(page([1, offset])), rowsOf(total([1]))])
    answer(rows, Number(sum?.n))
  },
  async ofCompany(id, answer) {
    const [rows, [sum]] = await Promise.all([rowsOf(ofCompany([1, id])), rowsOf(totalOfCompany([1, id]))])
    answer(rows, Number(sum?.n))
  },
  async search(word, answer) {
    const rows = await rowsOf(search([1, `%${word}%`]))
    answer(rows, Number(rows[0]?.n ?? 0))
  },
  async create({ first_name, last_name, email }, answer) {
    const now = new Date().toISOString()
    const text = `${first_name}\n${last_name}\n${email}`.toLowerCase()
    const name = `${last_name} ${first_name}`.toLowerCase()
    const [row] = await rowsOf(insert([1, first_name, last_name, email, text, name, now, key.id]))
    const id = Number(row?.id)
    answer(created(key, { id, first_name, last_name, email, created_at: now, updated_at: now }))
  },
  async update(id, { phone }, answer) {
    const [row] = await rowsOf(update([1, id, phone, new Date().toISOString(), key.id]))
    answer(row as Row)
  },
})
