import { type Expression, type RawBuilder, type SqlBool, sql, type Updateable } from 'kysely'
import { countOf, recount } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { prepare } from '../db/prepare.ts'
import { searchContacts, searchText, searchWords } from '../db/search.ts'
import type { ContactsTable } from '../db/tables.ts'
import type { Contact, ListedContact } from './schema.ts'

/** What a contact is made of; the rest of its detail view is given by the service. */
export type ContactValues = Omit<Contact, 'id' | 'company' | 'created_at' | 'updated_at'>

// The stored fields by which totals are kept, even while the company is in the trash.
const counted = ['company_id', 'stage'] as const

const columns = ['contacts.id', 'first_name', 'last_name', 'email', 'contacts.phone', 'stage'] as const
const details = [
  'mobile',
  'title',
  'source',
  'contacts.custom_fields',
  'tags',
  'contacts.updated_at',
] as const

// A company in the trash is as good as none.
const withCompany = (db: Db) =>
  db
    .selectFrom('contacts')
    .leftJoin('companies', (join) =>
      join
        .onRef('companies.workspace_id', '=', 'contacts.workspace_id')
        .onRef('companies.id', '=', 'contacts.company_id')
        .on('companies.deleted_at', 'is', null),
    )
    .select([
      ...columns,
      'contacts.created_at',
      'companies.id as company_id',
      'companies.name as company_name',
    ])

const live = prepare((db, p: { workspace_id: number; id: number }) =>
  withCompany(db)
    .select([...details, 'companies.website as company_website'])
    .where('contacts.workspace_id', '=', p.workspace_id)
    .where('contacts.id', '=', p.id)
    .where('contacts.deleted_at', 'is', null),
)

/** A live contact, or null. */
export async function findContact(db: Db, workspace_id: number, id: number): Promise<Contact | null> {
  const [row] = await live(db, { workspace_id, id })
  if (!row) return null
  const { company_name, company_website: website, ...contact } = row
  const company =
    company_name === null ? null : { id: contact.company_id as number, name: company_name, website }
  return {
    ...contact,
    company,
    custom_fields: JSON.parse(contact.custom_fields),
    tags: JSON.parse(contact.tags),
  }
}

// The ids come from an index alone, so that deep pages do not read the records they skip.
type Slice = { workspace_id: number; limit: number; offset: number }
const page = (db: Db, p: Slice, where: Expression<SqlBool>[], order: 'asc' | 'desc') =>
  withCompany(db)
    .where('contacts.workspace_id', '=', p.workspace_id)
    .where('contacts.id', 'in', (ids) =>
      ids
        .selectFrom('contacts')
        .select('contacts.id')
        .where('contacts.workspace_id', '=', p.workspace_id)
        .where('contacts.deleted_at', 'is', null)
        .where((eb) => eb.and(where))
        .orderBy('contacts.id', order)
        .limit(p.limit)
        .offset(p.offset),
    )
    .orderBy('contacts.id', 'desc')

const plain = {
  asc: prepare((db, p: Slice) => page(db, p, [], 'asc')),
  desc: prepare((db, p: Slice) => page(db, p, [], 'desc')),
}

type Row = Awaited<ReturnType<typeof plain.asc>>[number]
const listed = ({ company_name, ...contact }: Row): ListedContact => ({
  ...contact,
  company: company_name === null ? null : { id: contact.company_id as number, name: company_name },
})

type Filters = { search?: string; company_id?: number; stage?: string }
type Page = { per_page: number; offset: number }

/** One page of the live contacts that meet all filters, newest first, and the number of all. */
export async function listContacts(
  db: Db,
  workspace_id: number,
  { search = '', company_id, stage }: Filters,
  { per_page, offset }: Page,
): Promise<{ contacts: ListedContact[]; total: number }> {
  const none = { contacts: [], total: 0 }
  if (company_id !== undefined && !(await isCompany(db, workspace_id, company_id))) return none
  const values = { company_id, stage: stage?.trim() || undefined }
  const filters = []
  for (const column of counted) {
    if (values[column] === undefined) continue
    const total = await countOf(db, workspace_id, `contacts.${column}=${values[column]}`)
    filters.push({ column, value: values[column], total })
  }
  if (filters.some((filter) => filter.total === 0)) return none
  const where = conditions(filters)

  const words = searchWords(search)
  if (words.length) {
    const { ids, total } = await searchContacts(db, workspace_id, words, where, { limit: per_page, offset })
    if (!ids.length) return { contacts: [], total }
    const rows = await withCompany(db)
      .where('contacts.workspace_id', '=', workspace_id)
      .where('contacts.id', 'in', ids)
      .orderBy('contacts.id', 'desc')
      .execute()
    return { contacts: rows.map(listed), total }
  }

  const total =
    filters.length > 1
      ? await countBy(db, workspace_id, where)
      : (filters[0]?.total ?? (await countOf(db, workspace_id, 'contacts')))
  if (offset >= total) return { contacts: [], total }
  const { order, ...slice } = nearer(total, per_page, offset)
  const parameters = { workspace_id, ...slice }
  const rows = filters.length
    ? await page(db, parameters, where, order).execute()
    : await plain[order](db, parameters)
  return { contacts: rows.map(listed), total }
}

// The rarest filter leads the search by its index; the others are written so that no index offers itself for them,
// because a planner without statistics takes any.
function conditions(filters: { column: (typeof counted)[number]; value: unknown; total: number }[]) {
  return filters
    .sort((a, b) => a.total - b.total)
    .map(({ column, value }, index) => {
      const field = sql.ref(`contacts.${column}`)
      return index === 0
        ? sql<SqlBool>`${field} = ${value}`
        : sql<SqlBool>`coalesce(${field}, null) = ${value}`
    })
}

// Beyond the middle, fewer records are skipped when they are counted from the oldest.
function nearer(total: number, limit: number, offset: number) {
  const rest = total - offset
  if (offset < rest) return { order: 'desc' as const, limit, offset }
  const length = Math.min(limit, rest)
  return { order: 'asc' as const, limit: length, offset: rest - length }
}

async function countBy(db: Db, workspace_id: number, where: RawBuilder<SqlBool>[]): Promise<number> {
  const { n } = await db
    .selectFrom('contacts')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace_id)
    .where('deleted_at', 'is', null)
    .where((eb) => eb.and(where))
    .executeTakeFirstOrThrow()
  return Number(n)
}

const liveCompany = prepare((db, p: { workspace_id: number; id: number }) =>
  db
    .selectFrom('companies')
    .select('id')
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id)
    .where('deleted_at', 'is', null),
)
const isCompany = async (db: Db, workspace_id: number, id: number) =>
  (await liveCompany(db, { workspace_id, id })).length > 0

// Values as the columns hold them.
const stored = ({ custom_fields, tags, ...values }: ContactValues) => ({
  ...values,
  custom_fields: JSON.stringify(custom_fields),
  tags: JSON.stringify(tags),
  search_text: searchText(values),
})

type NewRow = ReturnType<typeof stored> & { workspace_id: number; now: string }
const insert = prepare((db, p: NewRow) =>
  db
    .insertInto('contacts')
    .values({
      workspace_id: p.workspace_id,
      first_name: p.first_name,
      last_name: p.last_name,
      email: p.email,
      phone: p.phone,
      mobile: p.mobile,
      company_id: p.company_id,
      title: p.title,
      stage: p.stage,
      source: p.source,
      custom_fields: p.custom_fields,
      tags: p.tags,
      search_text: p.search_text,
      created_at: p.now,
      updated_at: p.now,
    })
    .returning('id'),
)

/** Adds a contact; returns its id. */
export async function insertContact(
  tx: Db,
  workspace_id: number,
  now: string,
  values: ContactValues,
): Promise<number> {
  const [row] = await insert(tx, { ...stored(values), workspace_id, now })
  await recount(tx, workspace_id, 'contacts', counted, null, values)
  return (row as { id: number }).id
}

/** Changes the given fields of a live contact, of which `before` is the detail view. */
export async function updateContact(
  tx: Db,
  workspace_id: number,
  now: string,
  before: Contact,
  changes: Partial<ContactValues>,
): Promise<void> {
  const { custom_fields, tags, ...rest } = changes
  const set: Updateable<ContactsTable> = {
    ...rest,
    search_text: searchText({ ...before, ...rest }),
    updated_at: now,
  }
  if (custom_fields) set.custom_fields = JSON.stringify(custom_fields)
  if (tags) set.tags = JSON.stringify(tags)
  // Not from `before`, which hides a company in the trash.
  const moved = counted.some((field) => field in changes)
    ? await countedFields(tx, workspace_id, before.id)
    : null
  await tx
    .updateTable('contacts')
    .set(set)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', before.id)
    .execute()
  if (moved) await recount(tx, workspace_id, 'contacts', counted, moved, { ...moved, ...rest })
}

const countedFields = (tx: Db, workspace_id: number, id: number) =>
  tx
    .selectFrom('contacts')
    .select(counted)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

/** Moves a live contact to the trash (`deleted_at` set) or a deleted one back (null). Its notes are found through it. */
export async function moveContact(
  tx: Db,
  workspace_id: number,
  id: number,
  now: string,
  deleted_at: string | null,
): Promise<void> {
  const moved = await tx
    .updateTable('contacts')
    .set({ deleted_at, updated_at: now })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .returning(counted)
    .executeTakeFirstOrThrow()
  await recount(tx, workspace_id, 'contacts', counted, deleted_at ? moved : null, deleted_at ? null : moved)
}
