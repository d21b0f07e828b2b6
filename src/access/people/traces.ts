import { type SqlBool, sql } from 'kysely'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { type Range, slicesOf } from '../../db/lists/slices.ts'
import { emailKey, hasAccount } from './users.ts'

const page_size = 200
/** The prefix of `email_key` in a closed account. No e-mail has this prefix. */
export const closed_prefix = 'CLOSED '
/** The personal fields of audit entries. Roles and kinds of changes stay. */
const personal = ['name', 'email', 'time_zone', 'language', 'user_agent', 'address']

/** A side of an audit entry without personal fields. Null if nothing is left. */
function withoutPerson(side: string | null): string | null {
  if (side === null) return null
  const kept = Object.entries(JSON.parse(side)).filter(([name]) => !personal.includes(name))
  return kept.length ? JSON.stringify(Object.fromEntries(kept)) : null
}

type Entry = {
  workspace_id: number
  id: number
  before: string | null
  after: string | null
}

/**
 * Removes personal data of a person from the audit log, and the ended invitations to the person. Actions, times and ids stay.
 * Runs in small transactions and is idempotent. Close the account before it, and remove the account's row after it.
 */
export async function redactPerson(db: Db, user_id: string, now: string): Promise<void> {
  // Redact the entries that hold the e-mails last: after a crash, the next run reads the e-mails from them again.
  const emails = await emailsOf(db, user_id)
  for await (const ids of pagesOfWorkspaces(db, 'invitations'))
    for (const workspace_id of ids) await redactInvitations(db, workspace_id, emails, now)
  for await (const ids of pagesOfWorkspaces(db))
    await transaction(db, async (tx) => {
      const { entries, invitations } = await entriesAbout(tx, ids, user_id)
      for (const entry of entries) await redactEntry(tx, entry)
      if (invitations.length) await tx.deleteFrom('invitations').where('id', 'in', invitations).execute()
    })
  await redactSignIns(db, user_id)
}

/** The ids of all workspaces, or of those with entries of a kind, in pages. */
async function* pagesOfWorkspaces(db: Db, kind?: string): AsyncGenerator<number[]> {
  for (let last = 0; ; ) {
    const page = await db
      .selectFrom('workspaces')
      .select('id')
      .select(
        sql<number>`EXISTS (SELECT 1 FROM audit_log AS a
        WHERE a.workspace_id = workspaces.id AND a.kind = ${kind ?? ''})`.as('has_kind'),
      )
      .where('id', '>', last)
      .orderBy('id')
      .limit(page_size)
      .execute()
    const end = page.at(-1)
    if (!end) return
    yield page.filter(({ has_kind }) => kind === undefined || has_kind).map(({ id }) => id)
    last = end.id
  }
}

/** The audit entries about a person and the invitations that the person has accepted, and the ids of these invitations. */
async function entriesAbout(db: Db, workspace_ids: number[], user_id: string) {
  const log = db.selectFrom('audit_log').where('workspace_id', 'in', workspace_ids)
  const accepted = await log
    .select('record_id')
    .where((eb) => eb.and({ action: 'accepted', actor_id: user_id, kind: 'invitations' }))
    .execute()
  const invitations = accepted.map(({ record_id }) => record_id)
  const about: [string[], string[]][] = [
    [['users', 'members'], [user_id]],
    [['invitations'], invitations],
  ]
  const entries: Entry[] = []
  for (const [kinds, records] of about) {
    if (!records.length) continue
    const found = await log
      .select(['workspace_id', 'id', 'before', 'after'])
      .where('kind', 'in', kinds)
      .where('record_id', 'in', records)
      .execute()
    entries.push(...found)
  }
  return { entries, invitations }
}

/** The keys of the e-mails in an audit entry. */
function emailsIn({ before, after }: Pick<Entry, 'before' | 'after'>): string[] {
  const sides = [before, after].map((side) => side && JSON.parse(side).email)
  return sides.filter((email) => typeof email === 'string').map(emailKey)
}

/** The e-mails that a person has had, without those that another account has. */
async function emailsOf(db: Db, user_id: string): Promise<Set<string>> {
  const emails = new Set<string>()
  const user = await db.selectFrom('users').select('email_key').where('id', '=', user_id).executeTakeFirst()
  if (user?.email_key.startsWith(closed_prefix)) emails.add(user.email_key.slice(closed_prefix.length))
  for await (const ids of pagesOfWorkspaces(db))
    for (const entry of (await entriesAbout(db, ids, user_id)).entries)
      for (const email of emailsIn(entry)) emails.add(email)
  for (const email of emails) if (await hasAccount(db, email)) emails.delete(email)
  return emails
}

/** Removes e-mails from the audit entries about ended invitations, and removes these invitations. */
async function redactInvitations(
  db: Db,
  workspace_id: number,
  emails: Set<string>,
  now: string,
): Promise<void> {
  const along = sql<SqlBool>`workspace_id = ${workspace_id} AND kind = 'invitations'`
  const log: Range = { table: 'audit_log', along, order: ['occurred_at', 'id'] }
  for await (const { where } of slicesOf(db, log, page_size)) {
    const { rows } = await sql<Entry & { record_id: string }>`
      SELECT workspace_id, id, record_id, before, after FROM audit_log WHERE ${where}`.execute(db)
    const theirs = rows.filter((entry) => emailsIn(entry).some((email) => emails.has(email)))
    if (!theirs.length) continue
    await transaction(db, async (tx) => {
      const invitations = tx.selectFrom('invitations').where(
        'id',
        'in',
        theirs.map(({ record_id }) => record_id),
      )
      const open = await invitations
        .select('id')
        .where('accepted_at', 'is', null)
        .where('revoked_at', 'is', null)
        .where('expires_at', '>', now)
        .execute()
      const over = theirs.filter(({ record_id }) => !open.some(({ id }) => id === record_id))
      for (const entry of over) await redactEntry(tx, entry)
      const ids = over.map(({ record_id }) => record_id)
      if (ids.length) await tx.deleteFrom('invitations').where('id', 'in', ids).execute()
    })
  }
}

async function redactEntry(tx: Tx, { workspace_id, id, before, after }: Entry): Promise<void> {
  const left = { before: withoutPerson(before), after: withoutPerson(after) }
  if (left.before === before && left.after === after) return
  await tx
    .updateTable('audit_log')
    .set(left)
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
}

// Scans the index of sign-ins with an address in pages. No index finds the sign-ins of one person in all workspaces.
async function redactSignIns(db: Db, user_id: string): Promise<void> {
  let last: [string, number] = ['', 0]
  for (;;) {
    const page = await db
      .selectFrom('audit_log')
      .select(['workspace_id', 'id', 'before', 'after', 'actor_id', 'occurred_at'])
      .where(sql<boolean>`action = 'signed_in'`)
      .where('after', 'is not', null)
      .where('occurred_at', '>=', last[0])
      .where(sql<boolean>`(occurred_at, id) > (${last[0]}, ${last[1]})`)
      .orderBy('occurred_at')
      .orderBy('id')
      .limit(page_size)
      .execute()
    const end = page.at(-1)
    if (!end) return
    const own = page.filter(({ actor_id }) => actor_id === user_id)
    if (own.length)
      await transaction(db, async (tx) => {
        for (const entry of own) await redactEntry(tx, entry)
      })
    last = [end.occurred_at, end.id]
    // SQLite answers synchronously. Let other work run between two pages.
    await new Promise(setImmediate)
  }
}
