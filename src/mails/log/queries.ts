import { sql } from 'kysely'
import { type Moment, shownTime } from '../../clock.ts'
import { type Listed, newestRows, type Page } from '../../db/lists/lists.ts'
import type { MailsTable } from '../../db/mail-tables.ts'
import type { Db } from '../../db/tx.ts'
import type { Wanted } from '../../http/filter-values.ts'
import type { Scopes } from '../../http/scopes.ts'
import { addressKey } from '../address.ts'
import { kindOf, type MailKind, mail_kinds } from '../kinds.ts'
import { withTokens } from '../render.ts'
import type { Mail, MailDetail } from './schema.ts'

export type Filters = {
  kind?: readonly string[] | undefined
  status?: readonly MailsTable['status'][] | undefined
  recipient?: string | undefined
  user_id?: Wanted<string> | undefined
  from?: string | undefined
  to?: string | undefined
}

/** The kinds of mails whose cause a caller may read. */
export const readableKinds = (scopes: Scopes): readonly MailKind[] =>
  scopes === null ? mail_kinds : mail_kinds.filter((kind) => scopes.includes(kindOf(kind).scope))

const columns = [
  'id',
  'kind',
  'status',
  'reason',
  'recipient',
  'user_id',
  'record_kind',
  'record_id',
  'subject',
  'language',
  'attempt_count',
  'run_at_ms',
  'claim_id',
  'created_at',
  'finished_at',
] as const
type Row = Pick<MailsTable, Exclude<(typeof columns)[number], 'attempt_count'>> & { attempt_count: number }

/** When the server may be tried again, if it fails. */
const serverWait = async (db: Db): Promise<number> => {
  const server = await db
    .selectFrom('mail_server')
    .select(['failures', 'next_try_ms'])
    .where('id', '=', 1)
    .executeTakeFirst()
  return Number(server?.failures) > 0 ? Number(server?.next_try_ms) : 0
}

function shown(row: Row, wait_ms: number, moment: Moment): Mail {
  const { record_kind, record_id, run_at_ms, claim_id, ...mail } = row
  const id = /^\d+$/.test(record_id ?? '') ? Number(record_id) : record_id
  const waits = mail.status === 'pending' && claim_id === null && run_at_ms !== null
  return {
    ...mail,
    record: record_kind === null || id === null ? null : { kind: record_kind, id },
    next_attempt_at: waits ? shownTime(Math.max(run_at_ms, wait_ms), moment) : null,
  }
}

/** One page of the log, the newest first, of the kinds whose cause the caller may read. */
export async function listMails(
  db: Db,
  workspace_id: number,
  scopes: Scopes,
  { kind, status, recipient, user_id, from, to }: Filters,
  page: Page,
  moment: Moment,
): Promise<Listed<Mail>> {
  const readable = readableKinds(scopes).filter((one) => kind?.includes(one) ?? true)
  if (!readable.length || status?.length === 0)
    return { records: [], total: 'offset' in page ? 0 : null, next: null }
  let rows = db.selectFrom('mails').select(columns).where('workspace_id', '=', workspace_id)
  if (readable.length < mail_kinds.length) rows = rows.where('kind', 'in', [...readable])
  if (status) rows = rows.where('status', 'in', [...status])
  if (recipient !== undefined) rows = rows.where('recipient_key', '=', addressKey(recipient))
  if (user_id?.any.length) rows = rows.where('user_id', 'in', user_id.any)
  if (user_id?.not.length)
    rows = rows.where((eb) => eb.or([eb('user_id', 'is', null), eb('user_id', 'not in', user_id.not)]))
  if (from !== undefined) rows = rows.where('created_at', '>=', from)
  if (to !== undefined) rows = rows.where('created_at', '<=', to)
  const wait_ms = await serverWait(db)
  const { records, ...list } = await newestRows(rows, 'id', page)
  return { ...list, records: records.map((row) => shown(row, wait_ms, moment)) }
}

// Resends are at most 10 a day, for as long as the log keeps the mail.
const max_attempts = 100

/** A mail with its newest attempts; null if there is none, or if the caller may not read its cause. */
export async function findMail(
  db: Db,
  workspace_id: number,
  scopes: Scopes,
  id: string,
  moment: Moment,
): Promise<MailDetail | null> {
  const row = await db
    .selectFrom('mails')
    .select([...columns, 'message_id', 'text', 'calendar'])
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  if (!row || !readableKinds(scopes).some((kind) => kind === row.kind)) return null
  const { message_id, text, calendar, ...mail } = row
  const attempts = await db
    .selectFrom('mail_attempts')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, mail_id: id }))
    .orderBy('number', 'desc')
    .limit(max_attempts)
    .execute()
  return {
    ...shown(mail, await serverWait(db), moment),
    message_id,
    text: withTokens(text, null),
    has_calendar: calendar !== null,
    attempts: attempts.reverse().map((one) => ({
      number: one.number,
      started_at: one.started_at,
      duration_ms: one.duration_ms,
      server: one.server,
      tls: one.tls === 1,
      response:
        one.response_code === null ? null : { code: one.response_code, text: one.response_text ?? '' },
      error: one.error_code === null ? null : { code: one.error_code, message: one.error_message ?? '' },
    })),
  }
}

type Numbers = { due: number; failed: number; oldest_due_ms: number | null }

/** The numbers of mails for /metrics. Ages are in seconds. */
export async function mailNumbers(db: Db, elapsed_ms: number) {
  // Literals: a parameter cannot use the indexes of these states.
  const of = (status: 'pending' | 'failed') => db.selectFrom('mails').where('status', '=', sql.lit(status))
  const due = of('pending').where('run_at_ms', '<=', elapsed_ms)
  const [found, failed] = await Promise.all([
    due
      .select((eb) => [eb.fn.countAll<number>().as('due'), eb.fn.min('run_at_ms').as('oldest_due_ms')])
      .executeTakeFirst() as Promise<Omit<Numbers, 'failed'> | undefined>,
    of('failed')
      .select((eb) => eb.fn.countAll<number>().as('failed'))
      .executeTakeFirst(),
  ])
  const oldest = found?.oldest_due_ms ?? null
  return {
    mails_due: Number(found?.due ?? 0),
    mails_failed: Number(failed?.failed ?? 0),
    mails_oldest_due_seconds: oldest === null ? 0 : Math.max(0, elapsed_ms - Number(oldest)) / 1000,
  }
}

/** The state of the SMTP server, as all processes know it. */
export const serverState = (db: Db) =>
  db.selectFrom('mail_server').selectAll().where('id', '=', 1).executeTakeFirstOrThrow()
