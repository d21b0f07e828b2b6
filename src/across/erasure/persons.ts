import type { Db } from '../../db/db.ts'
import type { Person } from './redaction.ts'
import type { Linked } from './references.ts'
import { createPace, entriesOf } from './slices.ts'

const known_by = ['first_name', 'last_name', 'email', 'phone', 'mobile'] as const
const nobody: Person = { first_name: null, last_name: null, email: null, phone: null, mobile: null }

type Sides = { before: string | null; after: string | null }
const fieldsOf = ({ before, after }: Sides) =>
  [before, after].flatMap((text) => (text ? [JSON.parse(text) as Record<string, unknown>] : []))

/**
 * What a contact is known by: as it is, as the audit log knows it from before (people marry, and change their numbers),
 * and as a visitor wrote who booked with its e-mail. None once its row is gone.
 */
export async function personsOf(db: Db, workspace_id: number, id: number, linked: Linked): Promise<Person[]> {
  const row = await db
    .selectFrom('contacts')
    .select(known_by)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return []
  const former = (await auditSides(db, workspace_id, 'contacts', [id], known_by)).flatMap((fields) => {
    const before = fields as Partial<Person>
    // A change of one name went with the other as it is now.
    const named =
      before.first_name || before.last_name ? { first_name: row.first_name, last_name: row.last_name } : {}
    const known: Person = { ...nobody, ...named }
    const person = Object.fromEntries(known_by.map((field) => [field, before[field] ?? known[field]]))
    return known_by.some((field) => before[field]) ? [person as Person] : []
  })
  const appointments = linked.get('appointments') ?? []
  const booked = [...appointments].flatMap(([one, by_visitor]) => (by_visitor ? [one] : []))
  const notes = (await auditSides(db, workspace_id, 'appointments', booked, ['notes'])).map(
    ({ notes }) => notes,
  )
  return [row, ...former, ...notes.flatMap((text) => (typeof text === 'string' ? visitorsOf(text) : []))]
}

/** The values of some fields that the audit log tells of records, before and after each change; each set of them once. */
async function auditSides(
  db: Db,
  workspace_id: number,
  kind: string,
  ids: readonly number[],
  fields: readonly string[],
): Promise<Record<string, unknown>[]> {
  const sides = new Map<string, Record<string, unknown>>()
  const pace = createPace()
  for await (const some of entriesOf(db, workspace_id, kind, ids)) {
    const entries = await db
      .selectFrom('audit_log')
      .select(['before', 'after'])
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', some)
      .execute()
    for (const side of entries.flatMap(fieldsOf)) {
      const told = Object.fromEntries(fields.map((field) => [field, side[field]]))
      sides.set(JSON.stringify(told), told)
    }
    await pace()
  }
  return [...sides.values()]
}

/** The name and number at the end of a booking's notes, where they are not the contact's. */
export function visitorsOf(notes: string): Person[] {
  const end = notes.split('\n\n').at(-1) ?? ''
  const name = /^Name: (.+)$/m.exec(end)?.[1]
  const phone = /^Phone: (.+)$/m.exec(end)?.[1] ?? null
  // Where the first name ends cannot be seen.
  const words = name?.split(' ') ?? []
  const named = words.slice(1).map((_, i) => ({
    first_name: words.slice(0, i + 1).join(' '),
    last_name: words.slice(i + 1).join(' '),
  }))
  const persons = named.map((names) => ({ ...nobody, ...names, phone }))
  return persons.length || phone === null ? persons : [{ ...nobody, phone }]
}
