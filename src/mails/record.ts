import { sql } from 'kysely'
import { isoTime, type Moment, shownTime } from '../clock.ts'
import { rowLock } from '../db/locks.ts'
import { notifyManagers } from '../db/notifications.ts'
import { prepareRows, storable } from '../db/statements/recordset.ts'
import type { Tx } from '../db/tx.ts'
import { nextAttemptAt } from '../work/schedule.ts'
import type { Claim } from './claim.ts'
import type { AttemptError, Outcome } from './smtp.ts'

type Key = { workspace_id: number; id: string }

// Owners and administrators are notified of a server that fails for so long.
const told_after_ms = 15 * 60_000
type Attempt = Pick<Outcome, 'server' | 'tls' | 'response' | 'error'> & { started_ms: number; moment: Moment }

const columns = {
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
} as const
const names = Object.keys(columns) as (keyof typeof columns)[]

// The caller has locked the row of the mail. So no two attempts get the same number.
const add = prepareRows(columns, ({ row, values }) => {
  const number = sql`1 + coalesce((SELECT max(a.number) FROM mail_attempts AS a
    WHERE a.workspace_id = ${row.workspace_id} AND a.mail_id = ${row.mail_id}), 0)`
  return sql`INSERT INTO mail_attempts (number, ${sql.join(names.map((name) => sql.ref(name)))})
    ${values([number, ...names.map((name) => row[name])])}`
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

/** Ends a mail. Its secrets go, unless a resend may need them. */
export async function finish(
  tx: Tx,
  { workspace_id, id, tokens, tokens_until }: Key & { tokens: string | null; tokens_until: string | null },
  { status, reason }: Ending,
  { now_ms }: Moment,
): Promise<void> {
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
  if (result === 'sent') return finish(tx, claim, { status: 'sent', reason: null }, moment)
  if (next_ms === null || (claim.is_single && !is_interrupted)) {
    // The person who sends a mail again or a test sees the outcome.
    if (!claim.is_single) tellManagers(tx, claim, moment)
    return finish(tx, claim, { status: 'failed', reason: error?.code ?? null }, moment)
  }
  await tx
    .updateTable('mails')
    .set({ run_at_ms: next_ms })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
  tx.announce('mails')
}

/** Notifies owners and administrators of a mail that failed for good: once, until they have read it. No mail of that. */
function tellManagers(tx: Tx, { workspace_id, id }: Key, { now_ms }: Moment): void {
  const now = isoTime(now_ms)
  tx.announce('changes')
  const about = { kind: 'mail_failed', record_kind: 'mails', record_id: id, source: 'mail_failed' }
  const times = { occurred_at: now, changed_at: now, mail_due: 0 }
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
    const well = has_answered && { failures: 0, next_try_ms: null, failing_since_ms: null, is_told: 0 }
    if (has_answered || failed)
      await server()
        .set({ ...well, ...sent, ...failed })
        .execute()
    if (has_answered) tx.announce('mails')
    return
  }
  const before = await tx
    .selectFrom('mail_server')
    .select(['failures', 'failed_at_ms', 'failing_since_ms', 'is_told'])
    .where('id', '=', 1)
    .modifyEnd(rowLock(tx, 'FOR UPDATE'))
    .executeTakeFirstOrThrow()
  // Attempts that began before the last fault say nothing new.
  const is_old = Number(before.failures) > 0 && claim.claimed_at_ms <= Number(before.failed_at_ms)
  if (is_old) return
  const failures = Number(before.failures) + 1
  const failing_since_ms = Number(before.failing_since_ms ?? elapsed_ms)
  const is_told = Number(before.is_told) === 1
  const tells = !is_told && elapsed_ms - failing_since_ms >= told_after_ms
  if (tells) await tellOfServer(tx, { now_ms, elapsed_ms })
  const delay_s = retry_delays[failures - 1] ?? retry_delays.at(-1) ?? 60
  await server()
    .set({
      ...failed,
      failures,
      failed_at_ms: elapsed_ms,
      failing_since_ms,
      is_told: is_told || tells ? 1 : 0,
      next_try_ms: Math.ceil(elapsed_ms + delay_s * 1000),
    })
    .execute()
}

/** Notifies the managers of each workspace whose mails wait for the server. */
async function tellOfServer(tx: Tx, moment: Moment): Promise<void> {
  const { rows } = await sql<Key>`SELECT workspace_id, max(id) AS id FROM mails
    WHERE status = 'pending' GROUP BY workspace_id ORDER BY workspace_id`.execute(tx)
  for (const mail of rows) tellManagers(tx, mail, moment)
}

/** The error of an attempt that a stop interrupted. */
export const interrupted: AttemptError = {
  code: 'interrupted',
  message: 'The service stopped during this attempt. The attempt does not count.',
}
