import { sql } from 'kysely'
import { isoTime, type Moment } from '../clock.ts'
import { newId } from '../db/ids.ts'
import { rowLock } from '../db/locks.ts'
import type { MailsTable } from '../db/mail-tables.ts'
import { prepare } from '../db/statements/prepare.ts'
import type { Db, Tx } from '../db/tx.ts'
import { type Ending, finish, insertAttempt, useless } from './record.ts'

// A lease is short and renewed during the attempt: after a crash, another process continues within seconds.
export const lease_ms = 12_000

/** A mail fails after this many crashes during an attempt. */
const max_interruptions = 5

type Claimed = Pick<
  MailsTable,
  | 'id'
  | 'workspace_id'
  | 'recipient'
  | 'recipient_key'
  | 'record_kind'
  | 'record_id'
  | 'subject'
  | 'text'
  | 'html'
  | 'tokens'
  | 'tokens_until'
  | 'calendar'
  | 'calendar_method'
  | 'unsubscribe'
  | 'message_id'
  | 'created_at'
  | 'kind'
> & { tries: number; is_single: number }

/** A mail whose lease this process has. */
export type Claim = Claimed & { claim_id: string; claimed_at_ms: number }

const columns = sql`id, workspace_id, kind, recipient, recipient_key, record_kind, record_id, subject, text, html, tokens,
  tokens_until, calendar, calendar_method, unsubscribe, message_id, created_at, tries, is_single`

type Due = Claimed & {
  old_claim_id: string | null
  claimed_at_ms: number | null
  interruptions: number
  expires_ms: number
  useless_at: string | null
}
type Search = { elapsed_ms: number; interrupted: number }

// Mails about one record to one address go one after the other, in the order in which they were written. A mail that waits for
// its retry holds up no later one.
const dueMails = ({ elapsed_ms }: Search) => sql`
  SELECT ${columns}, claim_id AS old_claim_id, claimed_at_ms, interruptions, expires_ms, useless_at FROM mails
  WHERE status = 'pending' AND run_at_ms <= ${elapsed_ms} AND NOT EXISTS (
    SELECT 1 FROM mails AS other WHERE other.status = 'pending' AND other.workspace_id = mails.workspace_id
      AND other.record_kind = mails.record_kind AND other.record_id = mails.record_id
      AND other.recipient_key = mails.recipient_key
      AND CASE WHEN other.run_at_ms > ${elapsed_ms} THEN other.claim_id IS NOT NULL
        ELSE other.urgency = mails.urgency AND other.id < mails.id END)`
const lock = (db: Db) => rowLock(db, 'FOR UPDATE SKIP LOCKED')

// A mail whose attempt was interrupted may end the process, so one connection alone takes those.
const nextDue = prepare(
  (p: Search, db) => sql<Due>`${dueMails(p)}
    AND (${p.interrupted} = 1 OR claim_id IS NULL) ORDER BY interruptions, urgency, run_at_ms, id LIMIT 1 ${lock(db)}`,
)
// While the server fails, each try takes another mail: one that breaks the server must not hold up all others.
const longestUntried = prepare(
  (p: Search, db) => sql<Due>`${dueMails(p)}
    ORDER BY coalesce(last_attempt_ms, 0), urgency, id LIMIT 1 ${lock(db)}`,
)
const anyInFlight = prepare(
  (p: { elapsed_ms: number }) => sql<{ id: string }>`SELECT id FROM mails
    WHERE status = 'pending' AND claim_id IS NOT NULL AND run_at_ms > ${p.elapsed_ms} LIMIT 1`,
)
const anyDue = prepare(
  (p: { elapsed_ms: number }) => sql<{ id: string }>`SELECT id FROM mails
    WHERE status = 'pending' AND run_at_ms <= ${p.elapsed_ms}
      AND NOT EXISTS (SELECT 1 FROM mail_server WHERE failures > 0 AND next_try_ms > ${p.elapsed_ms}) LIMIT 1`,
)

/** Whether a mail is due, and the server may be tried. */
export const mayClaim = async (db: Db, elapsed_ms: number): Promise<boolean> =>
  (await anyDue(db, { elapsed_ms })).length > 0

/** Claims the next mail; null if none is due, or if the server fails and it is not yet time to try it again. */
export async function claimNext(
  tx: Tx,
  moment: Moment,
  { takes_interrupted }: { takes_interrupted: boolean },
): Promise<Claim | null> {
  const { elapsed_ms } = moment
  const server = await tx
    .selectFrom('mail_server')
    .select(['failures', 'next_try_ms'])
    .where('id', '=', 1)
    .modifyEnd(rowLock(tx, 'FOR UPDATE'))
    .executeTakeFirstOrThrow()
  const fails = Number(server.failures) > 0
  if (fails && Number(server.next_try_ms) > elapsed_ms) return null
  if (fails && (await anyInFlight(tx, { elapsed_ms })).length) return null
  const search = { elapsed_ms, interrupted: takes_interrupted ? 1 : 0 }
  for (;;) {
    const [due] = await (fails ? longestUntried : nextDue)(tx, search)
    if (!due) return null
    if (due.old_claim_id !== null) await logInterruption(tx, due, moment)
    const ending = endingOf(due, moment)
    if (ending) await finish(tx, due, ending, moment)
    else return lease(tx, due, elapsed_ms)
  }
}

/** Why a due mail is not sent; null if it is. */
function endingOf(
  { expires_ms, useless_at, interruptions, old_claim_id }: Due,
  moment: Moment,
): Ending | null {
  if (useless_at !== null && useless_at <= isoTime(moment.now_ms))
    return { status: 'cancelled', reason: useless }
  if (Number(expires_ms) <= moment.elapsed_ms) return { status: 'failed', reason: 'expired' }
  if (old_claim_id !== null && Number(interruptions) + 1 >= max_interruptions)
    return { status: 'failed', reason: 'interrupted' }
  return null
}

async function lease(tx: Tx, due: Due, elapsed_ms: number): Promise<Claim> {
  const { old_claim_id, interruptions, expires_ms, useless_at, ...mail } = due
  const claim_id = newId('clm')
  await tx
    .updateTable('mails')
    .set({
      claim_id,
      claimed_at_ms: elapsed_ms,
      run_at_ms: elapsed_ms + lease_ms,
      interruptions: Number(interruptions) + (old_claim_id === null ? 0 : 1),
    })
    .where((eb) => eb.and({ workspace_id: mail.workspace_id, id: mail.id }))
    .execute()
  return { ...mail, claim_id, claimed_at_ms: elapsed_ms }
}

const logInterruption = (tx: Tx, due: Due, moment: Moment) =>
  insertAttempt(tx, due, {
    started_ms: Number(due.claimed_at_ms),
    moment,
    server: '',
    tls: false,
    response: null,
    error: {
      code: 'interrupted',
      message:
        'The service stopped, or could not store the outcome of this attempt. The attempt does not count.',
    },
  })

/** The claim of a mail that was written or claimed by its request. */
export async function claimOf(db: Db, workspace_id: number, id: string): Promise<Claim | null> {
  const { rows } = await sql<Claim>`SELECT ${columns}, claim_id, claimed_at_ms FROM mails
    WHERE workspace_id = ${workspace_id} AND id = ${id} AND claim_id IS NOT NULL`.execute(db)
  return rows[0] ?? null
}

/** Renews the lease of a claim; false if another process has it, or if the mail is finished. */
export async function renew(tx: Tx, claim: Claim, elapsed_ms: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('mails')
    .set({ run_at_ms: elapsed_ms + lease_ms })
    .where((eb) => eb.and({ workspace_id: claim.workspace_id, id: claim.id, claim_id: claim.claim_id }))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Makes every leased mail due now. Call it only at the start of the only process on a database. */
export async function reclaimMails(tx: Tx, elapsed_ms: number): Promise<void> {
  await tx
    .updateTable('mails')
    .set({ run_at_ms: elapsed_ms })
    .where('status', '=', 'pending')
    .where('claim_id', 'is not', null)
    .execute()
}
