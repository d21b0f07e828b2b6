import { sql } from 'kysely'
import { type Clock, isoTime } from '../../clock.ts'
import { batch } from '../../db/batches.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { actorOf } from '../../events/actors.ts'
import { contextOf, service } from '../../events/context.ts'
import { dueDay } from '../../mails/digest-days.ts'
import { type Digest, digestMail, type NoticeKind } from '../../mails/messages.ts'
import { writeMail } from '../../mails/outbox.ts'
import { languageOf } from '../../mails/texts.ts'
import type { Resource } from '../../resources/resource.ts'
import { startOfDay, wallAt } from '../../zones/wall.ts'
import { countUnread, listNotifications, shownNotifications } from './queries.ts'

export type DigestDeps = {
  db: Db
  clock: Clock
  resources: readonly Resource[]
  /** The kinds of records that a role may read; null: all. */
  readableKinds: (role: string) => readonly string[] | null
}

const day_ms = 24 * 3_600_000
// The rest of a longer list is counted.
const max_listed = 20

const candidates = (db: Db) =>
  db
    .selectFrom('users as u')
    .innerJoin('memberships as m', 'm.user_id', 'u.id')
    .select([
      'm.workspace_id',
      'm.user_id',
      'm.role',
      'm.digest_day',
      'm.created_at',
      'u.email',
      'u.language',
      'u.time_zone',
      'u.mail_preferences',
    ])
    .where('u.mail_preferences', 'like', '%"daily_digest":true%')
    .orderBy('m.user_id')
    .orderBy('m.workspace_id')

type Member = Awaited<ReturnType<ReturnType<typeof candidates>['execute']>>[number]

/**
 * Writes the digests that are due, each in a transaction of its own. A digest that fails holds up no other: its error is
 * thrown at the end.
 */
export async function writeDigests(deps: DigestDeps, stopping: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  let after: Member | undefined
  do {
    const { user_id = '', workspace_id = 0 } = after ?? {}
    const members = await candidates(deps.db)
      .where(sql<boolean>`(m.user_id, m.workspace_id) > (${user_id}, ${workspace_id})`)
      .limit(batch)
      .execute()
    for (const member of members) {
      stopping.throwIfAborted()
      try {
        if (dueDay(member, deps.clock.now()))
          await transaction(deps.db, (tx) => writeDigest(tx, deps, member))
      } catch (error) {
        failures.push(error)
      }
    }
    after = members.length < batch ? undefined : members.at(-1)
  } while (after)
  if (failures.length) throw failures[0]
}

async function writeDigest(tx: Tx, { clock, resources, readableKinds }: DigestDeps, found: Member) {
  const { workspace_id, user_id } = found
  // The preferences as they are now, and the membership: its row is written only once for a day.
  const member = await candidates(tx)
    .where((eb) => eb.and({ 'm.workspace_id': workspace_id, 'm.user_id': user_id }))
    .executeTakeFirst()
  const now_ms = clock.now()
  const day = member && dueDay(member, now_ms)
  if (!day) return
  const { numUpdatedRows } = await tx
    .updateTable('memberships')
    .set({ digest_day: day })
    .where((eb) => eb.and({ workspace_id, user_id }))
    .where((eb) => eb.or([eb('digest_day', 'is', null), eb('digest_day', '<', day)]))
    .executeTakeFirst()
  if (!numUpdatedRows) return
  const language = languageOf(member.language)
  const reader = { language, zone: member.time_zone }
  const digest = await digestOf(tx, resources, member, readableKinds(member.role), day)
  if (!digest.parts.some(({ total }) => total)) return
  const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
  writeMail(tx, context, {
    kind: 'daily_digest',
    recipient: member.email,
    user_id,
    language,
    content: (base) => digestMail(reader, base, digest),
    unsubscribe: { user_id, name: 'daily_digest' },
  })
}

/** The records that concern a member on a day: only those of kinds that the role may read. */
async function digestOf(
  tx: Tx,
  resources: readonly Resource[],
  { workspace_id, user_id, time_zone }: Member,
  kinds: readonly string[] | null,
  day: string,
): Promise<Digest> {
  const zone = time_zone ?? 'UTC'
  const start_ms = startOfDay(day, zone)
  // A day of 23 to 25 hours.
  const noon_ms = start_ms + 1.5 * day_ms
  const next_day = new Date(wallAt(noon_ms, zone)).toISOString().slice(0, 10)
  const [start, end] = [isoTime(start_ms), isoTime(startOfDay(next_day, zone))]
  const mayRead = (kind: string) => kinds === null || kinds.includes(kind)
  const activities = (from: string | null, to: string) => {
    const open = tx
      .selectFrom('activities')
      .where((eb) => eb.and({ workspace_id, owner_id: user_id }))
      .where('deleted_at', 'is', null)
      .where('completed_at', 'is', null)
      .where('due_at', '<', to)
    return from === null ? open : open.where('due_at', '>=', from)
  }
  // The times that the person owns or hosts.
  const appointments = () =>
    tx
      .selectFrom('taken_times as t')
      .innerJoin('appointments as a', (on) =>
        on.onRef('a.workspace_id', '=', 't.workspace_id').onRef('a.id', '=', 't.appointment_id'),
      )
      .where((eb) => eb.and({ 't.workspace_id': workspace_id, 't.calendar': user_id }))
      .where('t.start_at', '<', end)
      .where('t.end_at', '>', start)
  const ofActivities = async (name: 'overdue' | 'today', from: string | null, to: string) => {
    if (!mayRead('activities')) return { name, items: [], total: 0 }
    const items = await activities(from, to)
      .select(['due_at as at', 'subject as title'])
      .orderBy('due_at')
      .orderBy('id')
      .limit(max_listed)
      .execute()
    const { n } = await activities(from, to)
      .select((eb) => eb.fn.countAll().as('n'))
      .executeTakeFirstOrThrow()
    return { name, items: items.map(({ at, title }) => ({ at: at ?? start, title })), total: Number(n) }
  }
  const ofAppointments = async () => {
    const name = 'appointments' as const
    if (!mayRead('appointments')) return { name, items: [], total: 0 }
    const items = await appointments()
      .select(['a.start_at as at', 'a.title'])
      .orderBy('a.start_at')
      .orderBy('a.id')
      .limit(max_listed)
      .execute()
    const { n } = await appointments()
      .select((eb) => eb.fn.countAll().as('n'))
      .executeTakeFirstOrThrow()
    return { name, items, total: Number(n) }
  }
  const ofNotifications = async () => {
    const name = 'notifications' as const
    const reader = { workspace_id, user_id, kinds }
    const rows = await listNotifications(tx, reader, { unread: true, after: null, limit: max_listed })
    const shown = await shownNotifications(tx, workspace_id, resources, rows)
    const items = shown.map(({ kind, record, records, outcome, actor, occurred_at }, n) => ({
      at: occurred_at,
      title: record.title ?? '',
      notice: {
        kind: kind as NoticeKind | 'mail_failed',
        title: record.title,
        actor: { kind: actorOf(rows[n]?.actor ?? '').kind, name: actor.name },
        records,
        outcome,
      },
    }))
    return { name, items, total: await countUnread(tx, reader) }
  }
  return {
    day,
    parts: [
      await ofAppointments(),
      await ofActivities('overdue', null, start),
      await ofActivities('today', start, end),
      await ofNotifications(),
    ],
  }
}
