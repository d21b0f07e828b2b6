import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { createPace } from '../../db/pace.ts'
import { createNaming, type Named, type Naming } from './person.ts'

// Texts of a workspace that are not texts of a record: settings, and what describes an import.

/** The columns of each table that may name a person, and its key. `columns.test.ts` judges every column of the schema. */
export const setting_columns = {
  saved_views: { key: ['id'], texts: ['name', 'query'] },
  webhooks: { key: ['id'], texts: ['name', 'status_reason', 'conditions'] },
  webhook_registrations: { key: ['webhook_id', 'from_seq'], texts: ['conditions'] },
  field_definitions: { key: ['id'], texts: ['label', 'options', 'previous'] },
  imports: { key: ['id'], texts: ['file_name', 'options', 'message', 'account'] },
  api_keys: { key: ['id'], texts: ['name'] },
} as const
/** Their kinds in the audit log, whose sides have the same names. */
const setting_kinds = ['views', 'webhooks', 'custom_fields', 'imports', 'api_keys']

/** Replaces a text that names an erased person. */
const erased_text = 'erased'

/**
 * Replaces texts of settings, and of their audit entries, that name an erased person. A view or a condition that selected the
 * person then selects nothing, and every other part of it stays.
 */
export async function redactSettings(
  db: Db,
  {
    workspace_id,
    named,
    stopping,
  }: { workspace_id: number; named: Named; stopping: AbortSignal | undefined },
): Promise<void> {
  const redact = createRedaction(createNaming(named))
  for (const [table, { key, texts }] of Object.entries(setting_columns))
    await redactTable(db, { table, key, texts, redact, stopping, where: sql`workspace_id = ${workspace_id}` })
  // In the order of an index.
  const audit_log = { table: 'audit_log', key: ['occurred_at', 'id'], texts: ['before', 'after'] }
  for (const kind of setting_kinds)
    await redactTable(db, {
      ...audit_log,
      redact,
      stopping,
      where: sql`workspace_id = ${workspace_id} AND kind = ${kind}`,
    })
}

type Redact = (text: string, name: string) => string

// Filters and fields whose texts people write. The codes of others, such as a stage, may equal a name.
const written =
  /(?:^|[.[])(?:q|search|(?:first_|last_)?name|email|phone|mobile|title|website|tags?|source|custom_fields)(?![a-z])/

/** Makes the function that redacts a text by the name of its column or key. Texts of JSON are redacted one by one. */
export function createRedaction({ names, selects }: Naming): Redact {
  const redactQuery = (query: string) =>
    query
      .split('&')
      .map((pair) => {
        const [[name, value] = ['', '']] = new URLSearchParams(pair)
        const isNamed = written.test(name) ? selects : names
        return isNamed(value) ? `${pair.split('=')[0]}=${erased_text}` : pair
      })
      .join('&')
  const redactValue = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return redactText(value, name)
    if (Array.isArray(value)) return value.map((one) => redactValue(one, name))
    if (typeof value !== 'object' || value === null) return value
    const { field } = value as { field?: unknown }
    // A condition by a code keeps its value, unless this is the whole name.
    const is_code = typeof field === 'string' && !written.test(field)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key,
        redactValue(one, key === 'value' && is_code ? '' : key),
      ]),
    )
  }
  const redactText = (text: string, name: string): string => {
    if (name === 'query') return redactQuery(text)
    // The value of a condition, in its list.
    return (name === 'value' ? selects : names)(text) ? erased_text : text
  }
  return (text, name) => {
    if (!/^[[{]/.test(text)) return redactText(text, name)
    try {
      const value: unknown = JSON.parse(text)
      const redacted = redactValue(value, name)
      // Keep the bytes of JSON that stays.
      return JSON.stringify(redacted) === JSON.stringify(value) ? text : JSON.stringify(redacted)
    } catch {
      return redactText(text, name)
    }
  }
}

type Table = {
  table: string
  key: readonly string[]
  texts: readonly string[]
  where: ReturnType<typeof sql>
  redact: Redact
  stopping: AbortSignal | undefined
}
type Row = Record<string, string | number | null>

const rows_at_once = 100

async function redactTable(db: Db, { table, key, texts, where, redact, stopping }: Table): Promise<void> {
  const columns = sql.join([...key, ...texts].map((name) => sql.ref(name)))
  const keys = sql.join(key.map((name) => sql.ref(name)))
  const valuesOf = (row: Row) => sql.join(key.map((name) => row[name]))
  const changesOf = (row: Row) =>
    texts.flatMap((name): [string, string][] => {
      const text = row[name]
      const redacted = typeof text === 'string' ? redact(text, name) : text
      return typeof redacted === 'string' && redacted !== text ? [[name, redacted]] : []
    })
  /** A change in flight may have replaced the row that was read. */
  const redactRow = (row: Row) =>
    transaction(db, async (tx) => {
      const locked = rowLock(tx, 'FOR NO KEY UPDATE')
      const at = sql`${where} AND (${keys}) = (${valuesOf(row)})`
      const { rows } =
        await sql<Row>`SELECT ${columns} FROM ${sql.table(table)} WHERE ${at} ${locked}`.execute(tx)
      const changes = rows.flatMap(changesOf)
      if (!changes.length) return
      const set = sql.join(changes.map(([name, text]) => sql`${sql.ref(name)} = ${text}`))
      await sql`UPDATE ${sql.table(table)} SET ${set} WHERE ${at}`.execute(tx)
    })
  const pace = createPace()
  for (let last: Row | undefined; ; ) {
    stopping?.throwIfAborted()
    const after = last ? sql`AND (${keys}) > (${valuesOf(last)})` : sql``
    const { rows } = await sql<Row>`SELECT ${columns} FROM ${sql.table(table)}
      WHERE ${where} ${after} ORDER BY ${keys} LIMIT ${rows_at_once}`.execute(db)
    for (const row of rows) {
      if (changesOf(row).length) await redactRow(row)
      await pace()
    }
    last = rows.at(-1)
    if (rows.length < rows_at_once) return
  }
}
