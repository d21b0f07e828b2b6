import { type Selectable, sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { batch } from '../../db/batches.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import type { NotificationsTable } from '../../db/tables.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import { contextOf, service } from '../../events/context.ts'
import { type NoticeKind, noticeMail } from '../../mails/messages.ts'
import { writeMail } from '../../mails/outbox.ts'
import { preferencesOf } from '../../mails/preferences.ts'
import { languageOf } from '../../mails/texts.ts'
import { appSegment } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { titlesOf } from '../titles.ts'

// A notification says in its row that it has still to be mailed. So the transaction of its cause writes nothing more, and a
// mail counts all records that one request assigned.

export type NoticeDeps = {
  db: Db
  clock: Clock
  resources: readonly Resource[]
  /** Whether a role may read a kind of records. */
  mayRead: (role: string, kind: string) => boolean
}

type Row = Selectable<NotificationsTable>

/** Writes the mails of new notifications. */
export async function mailNotices(deps: NoticeDeps, stopping: AbortSignal): Promise<void> {
  for (;;) {
    const due = await deps.db
      .selectFrom('notifications')
      .selectAll()
      .where('mail_due', '=', sql.lit(1))
      .where('held_by', 'is', null)
      .orderBy('id')
      .limit(batch)
      .execute()
    for (const row of due) {
      stopping.throwIfAborted()
      await transaction(deps.db, (tx) => mailNotice(tx, deps, row))
    }
    if (due.length < batch) return
  }
}

async function mailNotice(tx: Tx, { clock, resources, mayRead }: NoticeDeps, row: Row): Promise<void> {
  const { id, workspace_id, user_id, record_kind, record_id } = row
  const { numUpdatedRows } = await tx
    .updateTable('notifications')
    .set({ mail_due: 0 })
    .where((eb) => eb.and({ id, mail_due: 1 }))
    .executeTakeFirst()
  // Another process has written it.
  if (!numUpdatedRows || row.read_at !== null) return
  const member = await tx
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.email', 'u.language', 'u.mail_preferences', 'm.role'])
    .where('m.workspace_id', '=', workspace_id)
    .where('u.id', '=', user_id)
    .executeTakeFirst()
  const kind = row.kind as NoticeKind
  if (!member || !mayRead(member.role, record_kind) || !preferencesOf(member.mail_preferences)[kind]) return
  const titleOf = await titlesOf(tx, workspace_id, resources, [{ kind: record_kind, id: record_id }])
  const actor = actorOf(row.actor)
  const [named] = await namedActors(tx, workspace_id, [actor])
  const language = languageOf(member.language)
  const notice = {
    kind,
    title: titleOf(record_kind, record_id),
    actor: { kind: actor.kind, name: named?.name ?? null },
    records: row.records,
    outcome: row.outcome,
    path: pathOf(resources, record_kind, record_id),
  }
  const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
  writeMail(tx, context, {
    kind,
    recipient: member.email,
    user_id,
    record: { kind: record_kind, id: record_id },
    language,
    content: (base) => noticeMail(language, base, notice),
    unsubscribe: { user_id, name: kind },
  })
}

const others: Record<string, string> = { webhooks: '/settings/webhooks', imports: '/settings/imports' }

/** The address of a record in the web app. */
function pathOf(resources: readonly Resource[], kind: string, id: string): string {
  const resource = resources.find(({ table }) => table === kind)
  return `${resource ? `/${appSegment(resource)}` : (others[kind] ?? '')}/${id}`
}
