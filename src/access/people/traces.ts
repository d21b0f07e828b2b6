import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'

const page_size = 200
/** What an entry of the audit log tells of a person; a role, or the kind of a change, stays. */
const personal = ['name', 'email', 'time_zone', 'language', 'user_agent', 'address']

/** A side of an entry without what tells who the person was; null when nothing is left. */
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
 * Takes what tells who a person was out of the audit log, and removes the invitations that the person has accepted. What was
 * done, when, and by which id, stays. In small transactions, which may be repeated: the account is closed before, and its row removed after it.
 */
export async function forgetPerson(db: Db, user_id: string): Promise<void> {
  let last = 0
  for (;;) {
    const page = await db
      .selectFrom('workspaces')
      .select('id')
      .where('id', '>', last)
      .orderBy('id')
      .limit(page_size)
      .execute()
    const end = page.at(-1)
    if (!end) break
    const ids = page.map(({ id }) => id)
    await transaction(db, (tx) => forgetIn(tx, ids, user_id))
    last = end.id
  }
  await forgetSignIns(db, user_id)
}

async function forgetIn(tx: Db, workspace_ids: number[], user_id: string): Promise<void> {
  const log = tx.selectFrom('audit_log').where('workspace_id', 'in', workspace_ids)
  const accepted = await log
    .select('record_id')
    .where('action', '=', 'accepted')
    .where('actor_id', '=', user_id)
    .where('kind', '=', 'invitations')
    .execute()
  const invitations = accepted.map(({ record_id }) => record_id)
  const about: [string[], string[]][] = [
    [['users', 'members'], [user_id]],
    [['invitations'], invitations],
  ]
  for (const [kinds, records] of about) {
    if (!records.length) continue
    const entries = await log
      .select(['workspace_id', 'id', 'before', 'after'])
      .where('kind', 'in', kinds)
      .where('record_id', 'in', records)
      .execute()
    for (const entry of entries) await forgetEntry(tx, entry)
  }
  if (invitations.length) await tx.deleteFrom('invitations').where('id', 'in', invitations).execute()
}

async function forgetEntry(tx: Db, { workspace_id, id, before, after }: Entry): Promise<void> {
  const left = { before: withoutPerson(before), after: withoutPerson(after) }
  if (left.before === before && left.after === after) return
  await tx
    .updateTable('audit_log')
    .set(left)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute()
}

// By the index of sign-ins that still tell an address, page by page: nothing else finds those of one person in all workspaces.
async function forgetSignIns(db: Db, user_id: string): Promise<void> {
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
        for (const entry of own) await forgetEntry(tx, entry)
      })
    last = [end.occurred_at, end.id]
    // SQLite answers without a turn of the event loop: others have theirs between two pages.
    await new Promise(setImmediate)
  }
}
