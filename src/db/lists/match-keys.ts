import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { KeyedField } from './same-text.ts'

// Columns by which equal values are found. Each is that of an index of live records, which the condition selects.

/** The key of an index, and the condition of its rows, which are also live. */
export type MatchKey = { key: RawBuilder<string>; where: RawBuilder<SqlBool> }

const keyed = (field: KeyedField): MatchKey => {
  const key = sql.ref<string>(`${field}_key`)
  return { key, where: sql<SqlBool>`${key} IS NOT NULL` }
}

export const match_keys: Record<KeyedField | 'name', MatchKey> = {
  email: keyed('email'),
  phone: keyed('phone'),
  website: keyed('website'),
  name: { key: sql<string>`sort_name`, where: sql<SqlBool>`TRUE` },
}
