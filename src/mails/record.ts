import { sql } from 'kysely'
import { isoTime, type Moment, shownTime } from '../clock.ts'
import { rowLock } from '../db/locks.ts'
import { notifyManagers } from '../db/notifications.ts'
import { prepareAttempts } from '../db/statements/attempts.ts'
import { storable } from '../db/statements/recordset.ts'
import type { Tx } from '../db/tx.ts'
import { nextAttemptAt } from '../work/schedule.ts'
import { cancelOvertaken } from './cancel.ts'
import type { Claim } from './claim.ts'
import type { AttemptError, Outcome } from './smtp.ts'

type Key = { workspace_id: number; id: string }

// Owners and administrators are notified of a server that fails for so long.
const told_after_ms = 15 * 60_000
type Attempt = Pick<Outcome, 'server' | 'tls' | 'response' | 'error'> & { started_ms: number; moment: Moment }

// The caller has locked the row of the mail. So no two attempts get the same number.
const add = prepareAttempts('mail_attempts', 'mail_id', {
  workspace_id: 'bigint!',
  mail_id: 'text!',
  started_at: 'text!',
  duration_ms: 'bigint!',
  server: 'text!',
  tls: 'bigint!',
  response_code: 'bigint',
  response_text: 'text',
  error_code: 'text',
  error_message: 'text',
})

export async function insertAttempt(
  tx: Tx,
  { workspace_id, id: mail_id }: Key,
  { started_ms, moment, server, tls, response, error }: Attempt,
): Promise<void> {
  const row = {
    workspace_id,
    mail_id,
    started_at: shownTime(started_ms, moment),
    duration_ms: Math.max(0, Math.round(moment.elapsed_ms - started_ms)),
    server,
    tls: tls ? 1 : 0,
    response_code: response?.code ?? null,
    response_text: response && storable(response.text),
    error_code: error?.code ?? null,
    error_message: error && storable(error.message),
  }
  await add(tx, [row], {})
}

export type Ending = { status: 'sent' | 'failed' | 'cancelled'; reason: string | null }

/** The reason of a mail that nobody needs any longer. */
export const useless = 'It became useless before it was sent.'

/** A mail that ends. `is_single`: the person who sends it again, or a test, sees the outcome. */
type Ended = Key & { tokens: string | null; tokens_until: string | null; is_single: number }

/** Ends a mail. Its secrets go, unless a resend may need them. Managers are notified of one that fails for good. */
export async function finish(
  tx: Tx,
  { workspace_id, id, tokens, tokens_until, is_single }: Ended,
  { status, reason }: Ending,
  { now_ms }: Pick<Moment, 'now_ms'>,
): Promise<void> {
  if (status === 'failed' && !is_single) tellManagers(tx, { workspace_id, id }, { now_ms })
  await tx
    .updateTable('mails')
    .set({
      status,
      reason,
      run_at_ms: null,
      claim_id: null,
      claimed_at_ms: null,
      tokens: tokens_until === null ? null : tokens,
      finished_at: isoTime(now_ms),
    })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
}

/** Writes the outcome of an attempt. A no-op if the claim was lost: another process has it, or the mail is finished. */
export async function record(
  tx: Tx,
  claim: Claim,
  outcome: Outcome,
  {
    retry_delays,
    moment,
    started_ms,
  }: { retry_delays: readonly number[]; moment: Moment; started_ms: number },
): Promise<void> {
  const { workspace_id, id } = claim
  const { result, error } = outcome
  // The order of a claim: the server first.
  await recordServer(tx, claim, outcome, retry_delays, moment)
  const row = await tx
    .selectFrom('mails')
    .select('id')
    .where((eb) => eb.and({ workspace_id, id, claim_id: claim.claim_id }))
    .modifyEnd(rowLock(tx, 'FOR UPDATE'))
    .executeTakeFirst()
  if (!row) return
  await insertAttempt(tx, claim, { ...outcome, started_ms, moment })
  const is_interrupted = result === 'interrupted'
  const tries = Number(claim.tries) + (result === 'later' || result === 'unknown' ? 1 : 0)
  await tx
    .updateTable('mails')
    .set((eb) => ({
      tries,
      attempt_count: eb('attempt_count', '+', is_interrupted ? 0 : 1),
      interruptions: 0,
      last_attempt_ms: moment.elapsed_ms,
      claim_id: null,
      claimed_at_ms: null,
    }))
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
  const next_ms = nextOf(result, tries, retry_delays, moment.elapsed_ms)
  if (result === 'sent') {
    await finish(tx, claim, { status: 'sent', reason: null }, moment)
    return cancelOvertaken(tx, claim, isoTime(moment.now_ms))
  }
  if (next_ms === null || (claim.is_single && !is_interrupted))
    return finish(tx, claim, { status: 'failed', reason: error?.code ?? null }, moment)
  await tx
    .updateTable('mails')
    .set({ run_at_ms: next_ms })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
  tx.announce('mails')
}

/** Notifies owners and administrators of a mail that failed for good: once, until they have read it. No mail of that. */
export function tellManagers(tx: Tx, { workspace_id, id }: Key, { now_ms }: Pick<Moment, 'now_ms'>): void {
  const now = isoTime(now_ms)
  tx.announce('changes')
  const about = { kind: 'mail_failed', record_kind: 'mails', record_id: id, source: 'mail_failed' }
  const times = { occurred_at: now, changed_at: now }
  tx.defer(notifyManagers(tx, { workspace_id, ...about, actor: 'service', ...times }))
}

/** When a mail that was not sent is due again; null: never. A fault of the server costs it no retry. */
function nextOf(
  result: Outcome['result'],
  tries: number,
  retry_delays: readonly number[],
  elapsed_ms: number,
): number | null {
  if (result === 'refused') return null
  if (result === 'server' || result === 'interrupted') return elapsed_ms
  return nextAttemptAt(retry_delays, tries, elapsed_ms)
}

/** Keeps what all processes know of the server. An answer to a mail, of whatever kind, releases all that wait. */
async function recordServer(
  tx: Tx,
  claim: Claim,
  { result, response, error }: Outcome,
  retry_delays: readonly number[],
  { now_ms, elapsed_ms }: Moment,
): Promise<void> {
  if (result === 'interrupted') return
  const now = isoTime(now_ms)
  const sent = { ...(result === 'sent' && { last_success_at: now }) }
  const failed = error && {
    last_error_at: now,
    last_error_code: error.code,
    last_error_message: storable(error.message),
  }
  const server = () => tx.updateTable('mail_server').where('id', '=', 1)
  if (result !== 'server') {
    const has_answered = result === 'sent' || response !== null
    const well = has_answered && {
      failures: 0,
      next_try_ms: null,
      failing_since_ms: null,
      notified_workspaces: '[]',
    }
    if (has_answered || failed)
      await server()
        .set({ ...well, ...sent, ...failed })
        .execute()
    if (has_answered) tx.announce('mails')
    return
  }
  const before = await tx
    .selectFrom('mail_server')
    .select(['failures', 'failed_at_ms', 'failing_since_ms'])
    .where('id', '=', 1)
    .modifyEnd(rowLock(tx, 'FOR UPDATE'))
    .executeTakeFirstOrThrow()
  // Attempts that began before the last fault say nothing new.
  const is_old = Number(before.failures) > 0 && claim.claimed_at_ms <= Number(before.failed_at_ms)
  if (is_old) return
  const failures = Number(before.failures) + 1
  const failing_since_ms = Number(before.failing_since_ms ?? elapsed_ms)
  const delay_s = retry_delays[failures - 1] ?? retry_delays.at(-1) ?? 60
  await server()
    .set({
      ...failed,
      failures,
      failed_at_ms: elapsed_ms,
      failing_since_ms,
      next_try_ms: Math.ceil(elapsed_ms + delay_s * 1000),
    })
    .execute()
}

/** Notifies the managers of each workspace whose mails wait for a server that has failed for 15 minutes: once in an outage. */
export async function tellOfServer(tx: Tx, moment: Moment): Promise<void> {
  const server = await tx
    .selectFrom('mail_server')
    .select('notified_workspaces')
    .where('failing_since_ms', '<=', moment.elapsed_ms - told_after_ms)
    .modifyEnd(rowLock(tx, 'FOR UPDATE'))
    .executeTakeFirst()
  if (!server) return
  const notified = new Set<number>(JSON.parse(server.notified_workspaces))
  // Once all are notified, later calls do not read the pending mails.
  const all = await tx.selectFrom('workspaces').select('id').execute()
  if (all.every(({ id }) => notified.has(Number(id)))) return
  // Without the +, SQLite would read all mails, in the order of workspaces, and not the index of pending ones.
  const { rows } = await sql<Key>`SELECT +workspace_id AS workspace_id, max(id) AS id FROM mails
    WHERE status = 'pending' GROUP BY +workspace_id ORDER BY 1`.execute(tx)
  const others = rows.filter(({ workspace_id }) => !notified.has(Number(workspace_id)))
  if (!others.length) return
  for (const mail of others) {
    notified.add(Number(mail.workspace_id))
    tellManagers(tx, mail, moment)
  }
  await tx
    .updateTable('mail_server')
    .set({ notified_workspaces: JSON.stringify([...notified]) })
    .execute()
}

/** The error of an attempt that a stop interrupted. */
export const interrupted: AttemptError = {
  code: 'interrupted',
  message: 'The service stopped during this attempt. The attempt does not count.',
}
