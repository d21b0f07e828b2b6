import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'
import { emailKey, sameText, shortened } from './0044_same_texts.ts'
import { liveIndex } from './parts.ts'

/**
 * Indexes of the keys of 0044 in place of those of expressions, and the values by which a merged record is found.
 */
export const matchIndexes: Migration = {
  name: '0045_match_indexes',
  kind: 'contract',
  scans: ['contacts', 'companies'],
  statements: (engine) => [
    'DROP INDEX contacts_by_email',
    'DROP INDEX contacts_by_phone',
    'DROP INDEX companies_by_phone',
    'DROP INDEX companies_by_website',
    liveIndex('contacts', 'by_email', 'email_key', ' AND email_key IS NOT NULL'),
    // A search for a number reads it alone. SQLite would not use it with a condition of both columns.
    'CREATE INDEX contacts_by_phone ON contacts (workspace_id, phone_key, id, mobile_key) WHERE deleted_at IS NULL',
    liveIndex('companies', 'by_phone', 'phone_key', ' AND phone_key IS NOT NULL'),
    liveIndex('companies', 'by_website', 'website_key', ' AND website_key IS NOT NULL'),
    `CREATE TABLE merged_values (
  workspace_id bigint NOT NULL,
  kind text NOT NULL,
  field text NOT NULL,
  value text${engine === 'sqlite' ? '' : ' COLLATE "C"'} NOT NULL,
  record_id bigint NOT NULL,
  PRIMARY KEY (workspace_id, kind, field, value, record_id)
)`,
    'CREATE INDEX merged_values_record ON merged_values (workspace_id, kind, record_id)',
  ],
  fill: async (tx) => {
    await keepMerged(tx, 'contacts', sql`email_key, NULL AS website_key, NULL AS name`)
    await keepMerged(tx, 'companies', sql`NULL AS email_key, website_key, name`)
  },
}

type Merged = {
  workspace_id: number
  id: number
  custom_fields: string
  email_key: string | null
  website_key: string | null
  name: string | null
}

const rows_at_once = 1000

/** Keeps the values of records that were merged before, while they are in the trash. */
async function keepMerged(tx: Tx, kind: string, columns: ReturnType<typeof sql>): Promise<void> {
  const { rows: definitions } = await sql<{ workspace_id: number; key: string; type: string }>`
    SELECT workspace_id, key, type FROM field_definitions WHERE kind = ${kind} AND is_unique = 1`.execute(tx)
  let last = { workspace_id: 0, id: 0 }
  for (;;) {
    const { rows } = await sql<Merged>`
      SELECT c.workspace_id, c.id, c.custom_fields, ${columns} FROM merged_records AS m
      JOIN ${sql.table(kind)} AS c ON c.workspace_id = m.workspace_id AND c.id = m.record_id
      WHERE m.kind = ${kind} AND (m.workspace_id, m.record_id) > (${last.workspace_id}, ${last.id})
        AND c.deleted_at IS NOT NULL ORDER BY m.workspace_id, m.record_id LIMIT ${rows_at_once}`.execute(tx)
    for (const row of rows) {
      const custom: Record<string, unknown> = JSON.parse(row.custom_fields)
      const values = [
        ['email', row.email_key],
        ['website', row.website_key],
        ['name', row.name && sameText(row.name).toLowerCase()],
        ...definitions
          .filter(({ workspace_id, key }) => workspace_id === row.workspace_id && Object.hasOwn(custom, key))
          .map(({ key, type }) => [`custom_fields.${key}`, uniqueValue(type, custom[key])] as const),
      ]
      for (const [field, value] of values)
        if (value)
          await sql`INSERT INTO merged_values (workspace_id, kind, field, value, record_id)
            VALUES (${row.workspace_id}, ${kind}, ${field}, ${await value}, ${row.id})`.execute(tx)
    }
    const end = rows.at(-1)
    if (!end) return
    last = end
  }
}

/** A copy of uniqueValue of custom-fields/defined-values.ts. */
function uniqueValue(type: string, value: unknown): Promise<string> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return shortened(type === 'email' ? emailKey(text) : sameText(text))
}
