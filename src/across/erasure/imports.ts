import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { lowerCase, lowerCased } from '../../db/lists/letter-case.ts'
import { matchKeysOf, withoutSeparators } from '../../db/lists/match-keys.ts'
import type { Resource } from '../../resources/resource.ts'
import { hasText } from './references.ts'
import { createPace, entriesOf } from './slices.ts'

type Erased = { workspace_id: number; resource: Resource; id: number; stopping: AbortSignal | undefined }

/**
 * Removes what imports keep of a record: the values that an undo would put back, and the texts of failed rows with an
 * e-mail address or a telephone number that the record has or had.
 */
export async function forgetImportsOf(db: Db, erased: Erased): Promise<void> {
  const { workspace_id, resource, id, stopping } = erased
  const { rows: imports } = await sql<{ id: string; errors: number }>`
    SELECT id, errors FROM imports WHERE workspace_id = ${workspace_id}`.execute(db)
  const addresses = await addressesOf(db, erased)
  for (const { id: import_id, errors } of imports) {
    await transaction(db, (tx) =>
      tx
        .deleteFrom('import_changes')
        .where((eb) => eb.and({ workspace_id, import_id, kind: resource.table, record_id: id }))
        .execute(),
    )
    if (errors > 0) await forgetErrors(db, { workspace_id, import_id, stopping }, addresses)
  }
}

type Addresses = { emails: string[]; phones: string[] }
// A shorter number would be found within many others.
const min_digits = 6

/** The e-mail addresses and telephone numbers that a record has or had, as texts are compared with them. */
async function addressesOf(db: Db, { workspace_id, resource, id }: Erased): Promise<Addresses> {
  const { table, columns } = resource
  const names = ['email', 'phone', 'mobile'].filter((name) => name in columns)
  if (!names.length) return { emails: [], phones: [] }
  const { rows } = await sql<Record<string, unknown>>`
    SELECT ${sql.join(names.map((name) => sql.ref(name)))} FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id = ${id}`.execute(db)
  const sides = [...rows]
  const pace = createPace()
  for await (const ids of entriesOf(db, workspace_id, table, [id])) {
    const entries = await db
      .selectFrom('audit_log')
      .select(['before', 'after'])
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', ids)
      .execute()
    for (const text of entries.flatMap(({ before, after }) => [before, after]))
      if (text) {
        // Do not keep the whole history in memory.
        const side: Record<string, unknown> = JSON.parse(text)
        sides.push(Object.fromEntries(names.map((name) => [name, side[name]])))
      }
    await pace()
  }
  const valuesOf = (some: readonly string[]) =>
    sides.flatMap((side) => some.map((name) => side[name])).filter((value) => typeof value === 'string')
  const phones = valuesOf(names.filter((name) => name !== 'email')).flatMap((one) =>
    matchKeysOf('phone', one),
  )
  return {
    emails: [...new Set(valuesOf(['email']).map(lowerCased))],
    phones: [...new Set(phones)].filter((one) => one.replaceAll(/\D/g, '').length >= min_digits),
  }
}

type Import = { workspace_id: number; import_id: string; stopping: AbortSignal | undefined }
// A row has up to 4,096 characters. So many are searched in about 5 ms.
const rows_at_once = 250

/** Empties the texts of failed rows that have one of the addresses. The number of a row and its field stay. */
async function forgetErrors(
  db: Db,
  { workspace_id, import_id, stopping }: Import,
  { emails, phones }: Addresses,
): Promise<void> {
  if (!emails.length && !phones.length) return
  const found = sql<boolean>`(${hasText(db, lowerCase(db, 'content'), emails)}
    OR ${hasText(db, withoutSeparators(db, 'content'), phones)})`
  const last = await db
    .selectFrom('import_errors')
    .select((eb) => eb.fn.max('number').as('number'))
    .where((eb) => eb.and({ workspace_id, import_id }))
    .executeTakeFirst()
  const pace = createPace()
  for (let from = 0; from <= (last?.number ?? -1); from += rows_at_once) {
    stopping?.throwIfAborted()
    const rows = await db
      .selectFrom('import_errors')
      .select('number')
      .where((eb) => eb.and({ workspace_id, import_id }))
      .where('number', '>=', from)
      .where('number', '<', from + rows_at_once)
      .where(found)
      .execute()
    if (rows.length)
      await transaction(db, (tx) =>
        tx
          .updateTable('import_errors')
          .set({ content: '', message: 'This row was erased.', code: 'erased' })
          .where((eb) => eb.and({ workspace_id, import_id }))
          .where(
            'number',
            'in',
            rows.map(({ number }) => number),
          )
          .execute(),
      )
    await pace()
  }
}
