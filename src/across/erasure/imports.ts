import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { createPace } from '../../db/pace.ts'
import type { Resource } from '../../resources/resource.ts'
import { createNaming, type Named } from './person.ts'

type Erased = {
  workspace_id: number
  resource: Resource
  id: number
  named: Named
  stopping: AbortSignal | undefined
}

/**
 * Removes what imports keep of a record. These are values that an undo would put back, and texts of failed rows. Such a
 * text has an e-mail address, a telephone number or a full name of the record, present or former.
 */
export async function forgetImportsOf(db: Db, erased: Erased): Promise<void> {
  const { workspace_id, resource, id, named, stopping } = erased
  const { rows: imports } = await sql<{ id: string; errors: number }>`
    SELECT id, errors FROM imports WHERE workspace_id = ${workspace_id}`.execute(db)
  for (const { id: import_id, errors } of imports) {
    await transaction(db, (tx) =>
      tx
        .deleteFrom('import_changes')
        .where((eb) => eb.and({ workspace_id, import_id, kind: resource.table, record_id: id }))
        .execute(),
    )
    if (errors > 0) await forgetErrors(db, { workspace_id, import_id, stopping }, named)
  }
}

type Import = { workspace_id: number; import_id: string; stopping: AbortSignal | undefined }
// A row has up to 4,096 characters. So many are searched in about 5 ms.
const rows_at_once = 50

/** Empties the texts of failed rows that name the record. The number of a row and its field stay. */
async function forgetErrors(
  db: Db,
  { workspace_id, import_id, stopping }: Import,
  named: Named,
): Promise<void> {
  const { emails, phones, last_names } = named
  if (!emails.length && !phones.length && !last_names.length) return
  const { names } = createNaming(named)
  const last = await db
    .selectFrom('import_errors')
    .select((eb) => eb.fn.max('number').as('number'))
    .where((eb) => eb.and({ workspace_id, import_id }))
    .executeTakeFirst()
  const pace = createPace()
  for (let from = 0; from <= (last?.number ?? -1); from += rows_at_once) {
    stopping?.throwIfAborted()
    const texts = await db
      .selectFrom('import_errors')
      .select(['number', 'content'])
      .where((eb) => eb.and({ workspace_id, import_id }))
      .where('number', '>=', from)
      .where('number', '<', from + rows_at_once)
      .execute()
    const rows = texts.filter(({ content }) => names(content))
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
