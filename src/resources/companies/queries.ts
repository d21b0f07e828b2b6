import { type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { addValues, indexValues } from '../../db/lists/field-values.ts'
import type { Filter } from '../../db/lists/filters.ts'
import { type Found, findRecords, type Page } from '../../db/lists/lists.ts'
import { dated, newest_first, type Order, type Sorting } from '../../db/lists/orders.ts'
import { byIds } from '../../db/lists/pages.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import { textUpTo } from '../../db/sizes.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Tables } from '../../db/tables.ts'
import type { Company, ListedCompany } from './resource.ts'

type Row = Omit<Selectable<Tables['companies']>, 'workspace_id' | 'deleted_at' | 'sort_name'>
const listed_columns = [
  'id',
  'name',
  'website',
  'industry',
  'phone',
  'address',
  'created_at',
  'updated_at',
] as const
const columns = [...listed_columns, 'custom_fields'] as const

const company = (row: Row): Company => ({ ...row, custom_fields: JSON.parse(row.custom_fields) })

const live = prepare((db, p: { workspace_id: number; id: number }) =>
  db
    .selectFrom('companies')
    .select(columns)
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id)
    .where('deleted_at', 'is', null),
)

/** A live company, or null. */
export async function findCompany(db: Db, workspace_id: number, id: number): Promise<Company | null> {
  const [row] = await live(db, { workspace_id, id })
  return row ? company(row) : null
}

// As many bytes as they may have; some that are older have more.
const listed_fields_bytes = 64 * 1024
const withIds = byIds('companies', (db, those) =>
  db
    .selectFrom('companies')
    .select([...listed_columns, textUpTo('custom_fields', listed_fields_bytes).as('custom_fields')])
    .where(those),
)
type ListedRow = Awaited<ReturnType<typeof withIds>>[number]
const listed = ({ custom_fields, ...row }: ListedRow): ListedCompany =>
  custom_fields === null ? row : { ...row, custom_fields: JSON.parse(custom_fields) }

/** What companies can be sorted by. */
export const orders: readonly Order[] = [...dated, [{ field: 'name', by: sql.ref('sort_name') }]]

/** One page of the live companies that meet all filters; `total` and `next` as in findRecords. */
export async function listCompanies(
  db: Db,
  workspace_id: number,
  filters: Filter[],
  page: Page,
  sorting: Sorting = newest_first,
): Promise<Pick<Found, 'total' | 'next'> & { companies: ListedCompany[] }> {
  const { ids, total, next } = await findRecords(db, {
    table: 'companies',
    workspace_id,
    filters,
    sorting,
    page,
  })
  return { total, next, companies: (await withIds(db, workspace_id, ids)).map(listed) }
}

type NewCompany = Omit<Company, 'id' | 'created_at' | 'updated_at'>

/** Adds a company; returns its id. */
export async function insertCompany(
  tx: Db,
  workspace_id: number,
  now: string,
  values: NewCompany,
): Promise<number> {
  const { id } = await tx
    .insertInto('companies')
    .values({
      ...values,
      workspace_id,
      sort_name: sortName(values.name),
      custom_fields: JSON.stringify(values.custom_fields),
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await recount(tx, workspace_id, 'companies', [], null, values)
  await addValues(tx, 'companies', [{ workspace_id, id, ...values }])
  return id
}

/** Changes the given fields of a company. */
export async function updateCompany(
  tx: Db,
  workspace_id: number,
  now: string,
  before: Company,
  changes: Partial<NewCompany>,
): Promise<void> {
  const { custom_fields, ...rest } = changes
  const set: Updateable<Tables['companies']> = { ...rest, updated_at: now }
  if (rest.name !== undefined) set.sort_name = sortName(rest.name)
  if (custom_fields) {
    set.custom_fields = JSON.stringify(custom_fields)
    await indexValues(tx, 'companies', workspace_id, before.id, before, { custom_fields })
  }
  await tx
    .updateTable('companies')
    .set(set)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', before.id)
    .execute()
}
