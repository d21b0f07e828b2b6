import { emailKey } from '../../access/people/users.ts'
import { type Clock, isoTime, momentOf } from '../../clock.ts'
import { rowLock } from '../../db/locks.ts'
import type { Tx } from '../../db/tx.ts'
import { ApiError, conflict, invalid, notFound, orNotFound, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { endpoints } from '../../http/endpoints.ts'
import { Single, single } from '../../http/envelope.ts'
import { checkMatch } from '../../http/etag.ts'
import { ListQuery, MaybeText, NoFields, time } from '../../http/fields.ts'
import { acceptedCodes, codesFilter, textsFilter, wantedTexts } from '../../http/filter-parameters.ts'
import { cursor, pagesBy } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { unlessStopped } from '../../http/stopping.ts'
import { addressKey } from '../address.ts'
import { kindOf, type MailKind, mail_kinds } from '../kinds.ts'
import { countMail, day_ms, hour_ms, type Limit } from '../limits.ts'
import type { Mailer } from '../mailer.ts'
import { mailingOf } from '../mailing.ts'
import { testMail } from '../messages.ts'
import { writeMail } from '../outbox.ts'
import { languageOf } from '../texts.ts'
import { hasStopped, visitorHash } from '../unsubscribing.ts'
import { findMail, listMails, serverState } from './queries.ts'
import { Mail, MailDetail, MailParams, MailServer, mail_statuses, TestBody } from './schema.ts'

/** The service as the routes of mails use it. */
export type MailService = Service & {
  /** Null without SMTP_URL. */
  mailer: Mailer | null
  /** The settings that GET /mails/server shows. */
  mail_settings: Pick<MailServer, 'host' | 'port' | 'from' | 'reply_to'>
}

const max_resends = 10
const max_tests = 10

/** The log of mails, the test mail and the state of the SMTP server. */
export function mailRoutes(app: App, service: MailService): void {
  const { reading, clock } = service
  const mails = endpoints(app, service, {
    path: '/api/v1/mails',
    params: MailParams,
    reads: 'mails:read',
    writes: 'mails:write',
    noun: 'mail',
  })

  mails.list(
    {
      summary: 'List mails, the newest first',
      description: 'Only mails of kinds whose cause the caller may read.',
      query: ListQuery({
        cursor,
        kind: codesFilter('kind', mail_kinds),
        status: codesFilter('status', mail_statuses),
        recipient: MaybeText({ maxLength: 1000, description: 'The whole address, in either case.' }),
        user_id: textsFilter('user_id'),
        from: time('Created at or after this time.'),
        to: time('Created at or before this time.'),
      }),
      view: Mail,
      pages: pagesBy('-id of mails', 'string'),
    },
    ({ access: { workspace_id, scopes }, query }, { page }) => {
      const filters = {
        kind: acceptedCodes('kind', mail_kinds, query.kind),
        status: acceptedCodes('status', mail_statuses, query.status),
        recipient: query.recipient,
        user_id: wantedTexts('user_id', query.user_id),
        from: query.from,
        to: query.to,
      }
      return reading((db) => listMails(db, workspace_id, scopes, filters, page, momentOf(clock)))
    },
  )

  serverRoute(app, service)

  mails.read(
    { summary: 'Read a mail with its attempts', view: MailDetail },
    ({ access: { workspace_id, scopes }, params }) =>
      reading((db) => findMail(db, workspace_id, scopes, params.mail_id, momentOf(clock))),
  )

  resendRoute(app, service)
  testRoute(app, service)
}

function serverRoute(app: App, { reading, mailer, mail_settings }: MailService): void {
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/mails/server',
      scope: 'mails:read',
      id: 'getMailServer',
      summary: 'Read the state of the SMTP server',
      description: 'Of the whole installation. It never has the user or the password.',
      answers: { 200: Single(MailServer) },
    },
    async () => {
      const state = await reading(serverState)
      const { last_success_at, last_error_at, last_error_code, last_error_message } = state
      const known = last_success_at !== null || last_error_at !== null
      const working = Number(state.failures) > 0 ? 'failing' : known ? 'ok' : 'unknown'
      return single({
        configured: mailer !== null,
        ...mail_settings,
        status: mailer === null ? ('off' as const) : (working as 'failing' | 'ok' | 'unknown'),
        last_success_at,
        last_error:
          last_error_at === null
            ? null
            : { code: last_error_code ?? '', message: last_error_message ?? '', occurred_at: last_error_at },
      })
    },
  )
}

const configured = (mailer: Mailer | null): Mailer => {
  if (!mailer) throw conflict('mail_off', 'No mail is sent: SMTP_URL is not set.')
  return mailer
}

/** Counts a mail of a person who may send mails at once. Throws 429 above the limit. */
async function limited(tx: Tx, context: Context, limit: Limit, once: string, message: string): Promise<void> {
  const wait_ms = await countMail(tx, [limit], context.elapsed(), once)
  if (wait_ms === 0) return
  const headers = { 'retry-after': String(Math.ceil(wait_ms / 1000)) }
  throw new ApiError('rate_limited', message, { headers })
}

/** POST of a resend: the answer waits for its attempt. */
function resendRoute(app: App, service: MailService): void {
  const { write, clock, mailer } = service
  operation(
    app,
    {
      method: 'POST',
      path: '/api/v1/mails/:mail_id/resend',
      scope: 'mails:write',
      id: 'resendMail',
      summary: 'Send a finished mail again, once, and wait for its outcome',
      description:
        'The same message, without retries. 409: it is pending or cancelled, its appointment has begun, it reminds of an appointment that was moved or is not scheduled, or a visitor who gets no reminders, it is an invitation or a password reset, or SMTP_URL is not set. At most 10 times a day.',
      params: MailParams,
      body: NoFields,
      answers: { 200: Single(MailDetail) },
      repeatable: true,
      guarded: true,
      conflict: true,
    },
    (request, reply) => {
      const { mail_id } = request.params
      const { workspace_id, scopes } = request.access
      return write.inSteps(request, reply, {
        async before(tx, context, problems) {
          const appointment = await lockAppointment(tx, workspace_id, mail_id)
          const found = await lockMail(tx, workspace_id, mail_id)
          const mail = orNotFound('mail', await findMail(tx, workspace_id, scopes, mail_id, momentOf(clock)))
          checkMatch(request, mail)
          refuse(problems)
          const lease = configured(mailer).lease()
          refuseResend(mail.kind as MailKind, found, appointment, isoTime(clock.now()))
          if (mail.kind === 'booking_reminder' && !(await isWanted(tx, workspace_id, found, appointment)))
            throw conflict(
              'mail_made_anew',
              'The visitor gets no reminders: they switched them off, have another address, or are in the trash.',
            )
          const limit = { subject: `resend ${mail_id}`, max: max_resends, window_ms: day_ms }
          await limited(
            tx,
            context,
            limit,
            lease.claim_id,
            `A mail can be sent again ${max_resends} times a day.`,
          )
          recordChange(tx, context, { action: 'resent', kind: 'mails', record_id: mail_id })
          await claimAgain(tx, workspace_id, mail_id, lease, clock)
          return mail_id
        },
        meanwhile: (id, stopping) => unlessStopped(stopping, configured(mailer).attemptNow(workspace_id, id)),
        after: async (tx, _, id) => ({
          record: orNotFound('mail', await findMail(tx, workspace_id, scopes, id, momentOf(clock))),
        }),
      })
    },
  )
}

type Locked = { status: string; useless_at: string | null; recipient: string }
type About = { start_at: string; status: string; deleted_at: string | null; contact_id: number | null }

async function lockMail(tx: Tx, workspace_id: number, id: string): Promise<Locked> {
  const row = await tx
    .selectFrom('mails')
    .select(['status', 'useless_at', 'recipient'])
    .where((eb) => eb.and({ workspace_id, id }))
    .modifyEnd(rowLock(tx, 'FOR UPDATE'))
    .executeTakeFirst()
  if (!row) throw notFound('This mail')
  return row
}

/**
 * The appointment of a mail, also one in the trash. It is locked before the mail, in the order of a move: no reminder of the time
 * before a move is sent after it.
 */
async function lockAppointment(tx: Tx, workspace_id: number, mail_id: string): Promise<About | undefined> {
  const mail = await tx
    .selectFrom('mails')
    .select('record_id')
    .where((eb) => eb.and({ workspace_id, id: mail_id, record_kind: 'appointments' }))
    .executeTakeFirst()
  return mail
    ? tx
        .selectFrom('appointments')
        .select(['start_at', 'status', 'deleted_at', 'contact_id'])
        .where((eb) => eb.and({ workspace_id, id: Number(mail.record_id) }))
        .modifyEnd(rowLock(tx, 'FOR SHARE'))
        .executeTakeFirst()
    : undefined
}

/** Throws 409 for a mail that cannot be sent again. */
function refuseResend(
  kind: MailKind,
  { status, useless_at, recipient }: Locked,
  appointment: About | undefined,
  now: string,
): void {
  if (status === 'pending')
    throw conflict('mail_pending', 'The mail is pending: its next attempt comes by itself.')
  if (kindOf(kind).is_made_anew || status === 'cancelled')
    throw conflict('mail_made_anew', 'This mail cannot be sent again. Make a new one.')
  if ((useless_at !== null && useless_at <= now) || (appointment && appointment.start_at <= now))
    throw conflict('mail_made_anew', 'The appointment has begun, so the mail is useless.')
  if (kind === 'booking_reminder') {
    if (appointment?.status !== 'scheduled' || appointment.deleted_at !== null)
      throw conflict('mail_made_anew', 'The appointment is not scheduled. Schedule it, or send no reminder.')
    if (appointment.start_at !== useless_at)
      throw conflict(
        'mail_made_anew',
        'The appointment was moved. A reminder of the new time comes by itself.',
      )
  }
  if (recipient === '') throw conflict('mail_made_anew', 'The recipient was erased.')
}

/** Whether the contact of an appointment still has the address of a reminder, and wants it. */
async function isWanted(
  tx: Tx,
  workspace_id: number,
  { recipient }: Locked,
  appointment: About | undefined,
): Promise<boolean> {
  const mailing = mailingOf(tx)
  const visitor = await tx
    .selectFrom('contacts')
    .select('email')
    .where((eb) => eb.and({ workspace_id, id: appointment?.contact_id ?? 0 }))
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!mailing || !visitor?.email || addressKey(visitor.email) !== addressKey(recipient)) return false
  const address_hash = visitorHash(mailing, workspace_id, recipient)
  return !(await hasStopped(tx, { workspace_id, address_hash }))
}

async function claimAgain(
  tx: Tx,
  workspace_id: number,
  id: string,
  { claim_id, ends_ms }: ReturnType<Mailer['lease']>,
  clock: Clock,
): Promise<void> {
  const elapsed_ms = clock.elapsed()
  await tx
    .updateTable('mails')
    .set({
      status: 'pending',
      reason: null,
      finished_at: null,
      is_single: 1,
      claim_id,
      claimed_at_ms: elapsed_ms,
      run_at_ms: ends_ms,
      expires_ms: elapsed_ms + day_ms,
    })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
}

const notMember = {
  field: 'recipient',
  code: 'not_found' as const,
  message: 'recipient must be the address of a member of this workspace.',
}

/** POST of a test mail: the answer waits for its attempt. */
function testRoute(app: App, { write, clock, mailer }: MailService): void {
  operation(
    app,
    {
      method: 'POST',
      path: '/api/v1/mails/test',
      scope: 'mails:write',
      id: 'sendTestMail',
      summary: 'Send a test mail to a member and wait for its outcome',
      description:
        'Answers 200 also if it fails: see `status` and `attempts`. With a session, the default is the own address. At most 10 an hour.',
      body: TestBody,
      answers: { 200: Single(MailDetail) },
      repeatable: true,
      conflict: true,
    },
    (request, reply) => {
      const { workspace_id, actor } = request.access
      return write.inSteps(request, reply, {
        async before(tx, context, problems) {
          refuse(problems)
          const lease = configured(mailer).lease()
          const { recipient } = (request.body ?? {}) as { recipient?: string | null }
          const own = actor.kind === 'person' ? actor.id : null
          const member = await findMember(tx, workspace_id, recipient ?? null, own)
          if (!member) throw invalid([notMember])
          const limit = { subject: `test ${workspace_id}`, max: max_tests, window_ms: hour_ms }
          await limited(
            tx,
            context,
            limit,
            lease.claim_id,
            `A workspace can send ${max_tests} test mails an hour.`,
          )
          const language = languageOf(member.language)
          const reader = { language, zone: member.time_zone }
          const mail = {
            kind: 'test' as const,
            recipient: member.email,
            user_id: member.id,
            language,
            content: () => testMail(reader, context.now_ms),
          }
          return writeMail(tx, context, mail, lease) ?? ''
        },
        meanwhile: (id, stopping) => unlessStopped(stopping, configured(mailer).attemptNow(workspace_id, id)),
        after: async (tx, _, id) => ({
          body: single(orNotFound('mail', await findMail(tx, workspace_id, null, id, momentOf(clock)))),
        }),
      })
    },
  )
}

const findMember = (tx: Tx, workspace_id: number, email: string | null, user_id: string | null) => {
  const members = tx
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.id', 'u.email', 'u.language', 'u.time_zone'])
    .where('m.workspace_id', '=', workspace_id)
  return email === null
    ? members.where('u.id', '=', user_id ?? '').executeTakeFirst()
    : members.where('u.email_key', '=', emailKey(email)).orderBy('u.id').executeTakeFirst()
}
