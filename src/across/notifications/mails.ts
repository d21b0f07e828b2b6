import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { type Fresh, groupedBy } from '../../db/notifications.ts'
import type { ServiceClock } from '../../db/service-clock.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { isAnyOf, listParameter } from '../../db/statements/recordset.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import { contextOf, service } from '../../events/context.ts'
import { type NoticeKind, noticeMail } from '../../mails/messages.ts'
import { writeMails } from '../../mails/outbox.ts'
import { type MailPreferences, type MailSwitch, preferencesOf } from '../../mails/preferences.ts'
import { languageOf } from '../../mails/texts.ts'
import { appSegment } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { titlesOf } from '../titles.ts'

export type NoticeDeps = {
  clock: Pick<ServiceClock, 'now' | 'elapsed'>
  resources: readonly Resource[]
  /** The kinds of records that a role may read; null: all. */
  readableKinds: (role: string) => readonly string[] | null
}

type Member = {
  id: string
  email: string
  language: string | null
  mail_preferences: string | null
  role: string
}

const membersOf = prepare(
  (p: { workspace_id: number; ids: unknown }, db) => sql<Member>`
    SELECT u.id, u.email, u.language, u.mail_preferences, m.role FROM memberships AS m
    JOIN users AS u ON u.id = m.user_id
    WHERE m.workspace_id = ${p.workspace_id} AND ${isAnyOf(db, 'm.user_id', p.ids, 'text')}`,
)

/** Writes the mails of new notifications, in the transaction of their cause: a few statements, whatever their number. */
export const noticeMails =
  (deps: NoticeDeps) =>
  async (tx: Tx, notices: readonly Fresh[]): Promise<void> => {
    for (const [workspace_id, here] of await groupedBy(notices, (row) => String(row.workspace_id)))
      await mailNotices(tx, deps, Number(workspace_id), here)
  }

// The mails that are rendered in one turn of the event loop.
const slice = 100

/** A member gets one mail for the notifications of one kind that a transaction makes: a batch may mention them in 1,000 records. */
async function mailNotices(
  tx: Tx,
  { clock, resources, readableKinds }: NoticeDeps,
  workspace_id: number,
  notices: readonly Fresh[],
): Promise<void> {
  const together = await byMember(notices)
  const ids = listParameter(tx, [...new Set(together.map(({ user_id }) => user_id))])
  const members = new Map((await membersOf(tx, { workspace_id, ids })).map((member) => [member.id, member]))
  // Most members have the same preferences: none of their own.
  const preferences = new Map<string | null, MailPreferences>()
  const wants = ({ mail_preferences: stored }: Member, kind: MailSwitch): boolean => {
    const known = preferences.get(stored) ?? preferencesOf(stored)
    preferences.set(stored, known)
    return known[kind]
  }
  const wanted = together.flatMap((notice) => {
    const member = members.get(notice.user_id)
    const kind = notice.kind as NoticeKind
    if (!member || !wants(member, kind)) return []
    const mayRead = readableKinds(member.role)?.includes(notice.record_kind) ?? true
    return mayRead ? [{ ...notice, kind, member, by: actorOf(notice.actor) }] : []
  })
  const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
  for (let at = 0; at < wanted.length; at += slice) {
    if (at > 0) await turn()
    const some = wanted.slice(at, at + slice)
    const titleOf = await titlesOf(
      tx,
      workspace_id,
      resources,
      some.map(({ record_kind, record_id }) => ({ kind: record_kind, id: record_id })),
    )
    const named = await namedActors(
      tx,
      workspace_id,
      some.map(({ by }) => by),
    )
    const mails = some.map(({ kind, member, by, record_kind, record_id, records, outcome }, n) => {
      const language = languageOf(member.language)
      const notice = {
        kind,
        title: titleOf(record_kind, record_id),
        actor: { kind: by.kind, name: named[n]?.name ?? null },
        records: Number(records),
        outcome,
        path: pathOf(resources, record_kind, record_id),
      }
      return {
        kind,
        recipient: member.email,
        user_id: member.id,
        record: { kind: record_kind, id: record_id },
        language,
        content: (base: string) => noticeMail(language, base, notice),
        unsubscribe: { user_id: member.id, name: kind },
      }
    })
    await writeMails(tx, context, mails)
  }
}

/** The first notification of each member, kind of cause and kind of record, with the number of all records. */
async function byMember(notices: readonly Fresh[]): Promise<Fresh[]> {
  const groups = await groupedBy(
    notices,
    ({ user_id, kind, record_kind }) => `${user_id} ${kind} ${record_kind}`,
  )
  return [...groups.values()].map((own) => ({
    ...(own[0] as Fresh),
    records: own.reduce((sum, { records }) => sum + Number(records), 0),
  }))
}

const others: Record<string, string> = { webhooks: '/settings/webhooks', imports: '/settings/imports' }

/** The address of a record in the web app. */
function pathOf(resources: readonly Resource[], kind: string, id: string): string {
  const resource = resources.find(({ table }) => table === kind)
  return `${resource ? `/${appSegment(resource)}` : (others[kind] ?? '')}/${id}`
}
