import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { ValuedBy } from '../db/lists/defined-values.ts'
import { lowerCase, lowerCased } from '../db/lists/letter-case.ts'
import { sortName } from '../db/lists/sort-names.ts'
import type { Deletable } from '../db/records.ts'
import { engineOf, perKey } from '../db/statements/prepare.ts'
import { prepareRows } from '../db/statements/recordset.ts'

/** A record that an upsert matches, with the key of its value. */
export type Matched = { id: number; key: string }

/** A field by which an upsert finds the record that it changes. */
export type Match = {
  field: string
  /** Values of the same record have the same key. */
  keyOf(value: string): string
  /** The live records whose value has one of the keys. They stay locked until the transaction ends. */
  find(tx: Db, workspace_id: number, keys: readonly string[]): Promise<Matched[]>
}

type Workspace = { workspace_id: number }
const locked = (db: Db) => (engineOf(db) === 'postgres' ? sql`FOR NO KEY UPDATE OF c` : sql``)

/** Finds records by a text with an index in lower case, such as an e-mail address. */
export function matchText(table: Deletable, field: string): Match {
  return { field, keyOf: lowerCased, find: finderOf(table, field) }
}

/** Finds records by the address of a website, without case and without the slash at its end. */
export function matchWebsite(table: Deletable): Match {
  const find = finderOf(table, 'website')
  const keyOf = (website: string) => lowerCased(website).replace(/\/$/, '')
  return {
    field: 'website',
    keyOf,
    async find(tx, workspace_id, keys) {
      const forms = keys.flatMap((key) => [key, `${key}/`])
      const found = await find(tx, workspace_id, forms)
      return found.map(({ id, key }) => ({ id, key: keyOf(key) }))
    },
  }
}

function finderOf(table: Deletable, field: string): Match['find'] {
  const find = prepareRows<{ key: 'text!' }, Matched, Workspace>({ key: 'text!' }, (db, { row, rows }, p) => {
    const key = lowerCase(db, `c.${field}`)
    return {
      compile: () =>
        sql<Matched>`SELECT c.id, ${key} AS key FROM ${rows('first')} ${sql.table(table)} AS c
          WHERE c.workspace_id = ${p.workspace_id} AND ${key} = ${row.key} AND ${sql.ref(`c.${field}`)} IS NOT NULL
            AND c.deleted_at IS NULL ORDER BY c.id ${locked(db)}`.compile(db),
    }
  })
  return (tx, workspace_id, keys) =>
    find(
      tx,
      keys.map((key) => ({ key })),
      { workspace_id },
    )
}

/** Finds records by their whole name, without case. */
export function matchName(table: Deletable): Match {
  // Names with the same first characters, without accents, have the same text for sorting.
  const find = prepareRows<{ key: 'text!' }, Matched, Workspace>(
    { key: 'text!' },
    (db, { row, rows }, p) => ({
      compile: () =>
        sql<Matched>`SELECT c.id, c.name AS key FROM ${rows('first')} ${sql.table(table)} AS c
        WHERE c.workspace_id = ${p.workspace_id} AND c.sort_name = ${row.key} AND c.deleted_at IS NULL
        ORDER BY c.id ${locked(db)}`.compile(db),
    }),
  )
  const keyOf = (name: string) => name.toLowerCase()
  return {
    field: 'name',
    keyOf,
    async find(tx, workspace_id, keys) {
      const sort_names = [...new Set(keys.map((key) => sortName(key)))]
      const found = await find(
        tx,
        sort_names.map((key) => ({ key })),
        { workspace_id },
      )
      return found.map(({ id, key }) => ({ id, key: keyOf(key) }))
    },
  }
}

type Field = Workspace & { definition_id: number }
const holdersOf = perKey((table: Deletable) =>
  prepareRows<{ key: 'text!' }, Matched, Field>({ key: 'text!' }, (db, { row, rows }, p) => ({
    compile: () =>
      sql<Matched>`SELECT c.id, v.unique_value AS key
        FROM ${rows('first')} defined_values AS v CROSS JOIN ${sql.table(table)} AS c
        WHERE v.workspace_id = ${p.workspace_id} AND v.definition_id = ${p.definition_id}
          AND v.unique_value IS NOT NULL AND v.unique_value = ${row.key}
          AND c.workspace_id = v.workspace_id AND c.id = v.record_id AND c.deleted_at IS NULL
        ORDER BY c.id ${locked(db)}`.compile(db),
  })),
)

/** Finds records by the value of a unique custom field. The texts are those of uniqueValue. */
export function matchCustomField(table: Deletable, { id, key }: ValuedBy): Match {
  return {
    field: `custom_fields.${key}`,
    keyOf: (value) => value,
    find: (tx, workspace_id, keys) =>
      holdersOf(table)(
        tx,
        keys.map((key) => ({ key })),
        { workspace_id, definition_id: id },
      ),
  }
}
