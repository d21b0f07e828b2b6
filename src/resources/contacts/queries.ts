import type { Updateable } from 'kysely'
import type { Db } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { addValues, indexValues } from '../../db/lists/field-values.ts'
import { lowerCase, lowerCased } from '../../db/lists/letter-case.ts'
import { searchText } from '../../db/lists/search.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Tables } from '../../db/tables.ts'
import type { Contact } from './schema.ts'

/** What a contact is made of; the rest of its detail view is given by the service. */
type ContactValues = Omit<Contact, 'id' | 'company' | 'created_at' | 'updated_at'>

/** The stored fields by which totals are kept, even while the company is in the trash. */
export const counted = ['company_id', 'stage'] as const

const columns = ['contacts.id', 'first_name', 'last_name', 'email', 'contacts.phone', 'stage'] as const
const details = [
  'mobile',
  'title',
  'source',
  'contacts.custom_fields',
  'tags',
  'contacts.updated_at',
] as const

/** Contacts in the list view, with the company's columns prefixed. A company in the trash is as good as none. */
export const withCompany = (db: Db) =>
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
  const { company_id, company_name: name, company_website: website } = row
  // Key by key, in the order of the view: copying the row and dropping some keys costs as much as reading it.
  return {
    id: row.id,
    first_name: row.first_name,
    last_name: row.last_name,
    email: row.email,
    phone: row.phone,
    mobile: row.mobile,
    company_id,
    company: company_id === null || name === null ? null : { id: company_id, name, website },
    title: row.title,
    stage: row.stage,
    source: row.source,
    custom_fields: JSON.parse(row.custom_fields),
    tags: JSON.parse(row.tags),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

const byEmail = prepare((db, p: { workspace_id: number; email: string }) =>
  db
    .selectFrom('contacts')
    .select('id')
    .where('workspace_id', '=', p.workspace_id)
    .where(lowerCase(db, 'email'), '=', p.email)
    .where('email', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(1),
)

/** The first live contact with an e-mail, whatever the case of its letters; null when there is none. */
export async function findContactByEmail(
  db: Db,
  workspace_id: number,
  email: string,
): Promise<Contact | null> {
  for (;;) {
    const [row] = await byEmail(db, { workspace_id, email: lowerCased(email) })
    const contact = row ? await findContact(db, workspace_id, row.id) : null
    // Between the two reads one may go to the trash: then the next one is the first.
    if (contact || !row) return contact
  }
}

// Values as the columns hold them.
const stored = ({ custom_fields, tags, ...values }: ContactValues) => ({
  ...values,
  custom_fields: JSON.stringify(custom_fields),
  tags: JSON.stringify(tags),
  sort_name: sortName(values.last_name, values.first_name),
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
      sort_name: p.sort_name,
      search_text: p.search_text,
      created_at: p.now,
      updated_at: p.now,
    })
    .returning('id'),
)

/** Adds a contact; returns its detail view. The company must be a live one. */
export async function insertContact(
  tx: Db,
  workspace_id: number,
  now: string,
  values: ContactValues,
): Promise<Contact> {
  // Issued together: neither needs the other's answer.
  const [[row]] = await Promise.all([
    insert(tx, { ...stored(values), workspace_id, now }),
    recount(tx, workspace_id, 'contacts', counted, null, values),
  ])
  const { id } = row as { id: number }
  await addValues(tx, 'contacts', [{ workspace_id, id, ...values }])
  if (values.company_id !== null) return (await findContact(tx, workspace_id, id)) as Contact
  // Without a company everything is known; reading it would be one more way to the database and back.
  return {
    id,
    first_name: values.first_name,
    last_name: values.last_name,
    email: values.email,
    phone: values.phone,
    mobile: values.mobile,
    company_id: null,
    company: null,
    title: values.title,
    stage: values.stage,
    source: values.source,
    custom_fields: values.custom_fields,
    tags: values.tags,
    created_at: now,
    updated_at: now,
  }
}

const searched = ['first_name', 'last_name', 'email'] as const

/** Changes the given fields of a live contact, of which `before` is the detail view. */
export async function updateContact(
  tx: Db,
  workspace_id: number,
  now: string,
  before: Contact,
  changes: Partial<ContactValues>,
): Promise<void> {
  const { custom_fields, tags, ...rest } = changes
  const set: Updateable<Tables['contacts']> = { ...rest, updated_at: now }
  // An index is written anew also for a value that stays.
  if (searched.some((field) => field in changes)) {
    const names = { ...before, ...rest }
    set.sort_name = sortName(names.last_name, names.first_name)
    set.search_text = searchText(names)
  }
  if (custom_fields) set.custom_fields = JSON.stringify(custom_fields)
  if (tags) set.tags = JSON.stringify(tags)
  if (custom_fields || tags)
    await indexValues(tx, 'contacts', workspace_id, before.id, before, { ...before, ...changes })
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
