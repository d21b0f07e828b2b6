import { sql } from 'kysely'
import { splitName } from '../cells/person-names.ts'
import { folded } from '../cells/words.ts'
import { emailKey } from '../db/lists/same-text.ts'
import { sortName } from '../db/lists/sort-names.ts'
import { survivorsWith } from '../db/merged.ts'
import { perKey, prepare } from '../db/statements/prepare.ts'
import { isAnyOf, listParameter } from '../db/statements/recordset.ts'
import type { Linked, NameProblem } from './names.ts'
import type { Running } from './rows.ts'

// Contacts and members that rows name by an e-mail address or a full name.

type Person = { id: number | string; name: string; email: string | null }

const contactsBy = perKey((by: 'email' | 'name') =>
  prepare(
    (p: { workspace_id: number; keys: unknown }, db) => sql<Person>`
      SELECT id, first_name || ' ' || last_name AS name, email FROM contacts
      WHERE workspace_id = ${p.workspace_id} AND deleted_at IS NULL
        AND ${by === 'email' ? sql`email_key IS NOT NULL AND ${isAnyOf(db, 'email_key', p.keys, 'text')}` : isAnyOf(db, 'sort_name', p.keys, 'text')}
      ORDER BY id`,
  ),
)

const max_candidates = 5

const max_words = 8

/** The sort names that a full name can have: its last name may have several words. */
function keysOf(name: string): string[] {
  const { first, last } = splitName(name)
  const words = `${first} ${last ?? ''}`.trim().split(' ').slice(0, max_words)
  return words.slice(1).map((_, n) => sortName(words.slice(n + 1).join(' '), words.slice(0, n + 1).join(' ')))
}

/** The contacts of names: by e-mail address, also that of a merged contact, else by the full name. A name of several contacts is a problem. */
export async function findContacts(
  { db, row: { workspace_id } }: Running,
  names: readonly string[],
): Promise<Map<string, Linked>> {
  const emails = names.filter((name) => name.includes('@')).map(emailKey)
  const keys = names.flatMap(keysOf)
  const found = await Promise.all([
    emails.length ? contactsBy('email')(db, { workspace_id, keys: listParameter(db, emails) }) : [],
    keys.length ? contactsBy('name')(db, { workspace_id, keys: listParameter(db, keys) }) : [],
  ])
  const contacts = found.flat()
  const live = new Set(contacts.map(({ email }) => email && emailKey(email)))
  const missing = emails.filter((email) => !live.has(email))
  const survivors = missing.length ? await survivorsWith(db, 'contacts', workspace_id, 'email', missing) : []
  const people = [...contacts, ...survivors.map(({ id, key }) => ({ id, name: '', email: key }))]
  return linksAmong(names, people, (name) => noSuch('contact', name))
}

/** The members of names. */
export async function findMembers(
  { db, row: { workspace_id } }: Running,
  names: readonly string[],
): Promise<Map<string, Linked>> {
  const members = await db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .where('m.workspace_id', '=', workspace_id)
    .select(['u.id', 'u.name', 'u.email'])
    .execute()
  return linksAmong(names, members, (name) => ({
    code: 'no_such_member',
    message: `No member has the name or the e-mail address "${name.slice(0, 100)}". The row is imported without an owner.`,
  }))
}

function linksAmong(
  names: readonly string[],
  people: readonly Person[],
  none: (name: string) => NameProblem,
): Map<string, Linked> {
  const by = new Map<string, Map<Person['id'], Person>>()
  for (const person of people)
    for (const key of [person.email && emailKey(person.email), folded(person.name)])
      if (key) by.set(key, (by.get(key) ?? new Map()).set(person.id, person))
  const linked = new Map<string, Linked>()
  for (const name of names) {
    const { first, last } = splitName(name)
    const key = name.includes('@') ? emailKey(name) : folded(`${first} ${last ?? ''}`)
    const found = [...(by.get(key)?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))
    const [one] = found
    if (!one) linked.set(name, { note: none(name) })
    else if (found.length === 1) linked.set(name, { id: one.id })
    else linked.set(name, { problem: ambiguous(name, found) })
  }
  return linked
}

function ambiguous(name: string, found: readonly Person[]): NameProblem {
  const candidates = found
    .slice(0, max_candidates)
    .map(({ id, email }) => `${id}${email ? ` (${email})` : ''}`)
  const more = found.length > max_candidates ? ' and others' : ''
  return {
    code: 'ambiguous',
    message: `${found.length} records have the name "${name.slice(0, 100)}": ${candidates.join(', ')}${more}. Write the e-mail address or the id.`,
  }
}

/** The note on a row that is imported without a link. */
export const noSuch = (noun: string, name: string): NameProblem => ({
  code: 'not_found',
  message: `There is no ${noun} "${name.slice(0, 100)}". The row is imported without it.`,
})
