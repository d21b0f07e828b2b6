import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, momentOf } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import type { Seal } from '../db/seal.ts'
import type { Mailbox } from './address.ts'
import { type Claim, claimNext, claimOf, lease_ms, mayClaim, renew } from './claim.ts'
import { compose } from './compose.ts'
import type { Mailing } from './mailing.ts'
import { interrupted, record } from './record.ts'
import type { AttemptError, Outcome, Smtp } from './smtp.ts'
import { unsubscribeToken } from './unsubscribing.ts'

export type MailerOptions = {
  db: Db
  clock: Clock
  seal: Seal
  mailing: Mailing
  from: Mailbox
  reply_to: string | null
  retry_delays: readonly number[]
  smtp: Smtp
  /** Called with each error inside. The mailer continues. */
  onError: (error: unknown) => void
}

export type Mailer = ReturnType<typeof createMailer>

/** The jobs that send mails, each with a connection of its own: one that hangs must not delay the others. */
export const senders = 2

const renew_every_ms = 4000
/** Claims the next mail in a transaction; null: none is due. */
type Next = (tx: Tx) => Promise<Claim | null>
const noNext: Next = async () => null

// How long before its end an attempt whose lease was not renewed is ended.
const slack_ms = 1000
// How long an attempt may go on after a stop.
const grace_ms = 5000
const write_pause_ms = 250

/** Sends due mails: claims them with leases, one at a time for each sender, and writes every outcome. */
export function createMailer(options: MailerOptions) {
  const { db, clock, seal, mailing, smtp, from, reply_to, retry_delays, onError } = options
  const outcomes = new Map<string, number>()

  /** Attempts a claimed mail and writes the outcome. Returns the claim that `next` makes in the same transaction. */
  async function attempt(claim: Claim, next: Next = noNext, stopping?: AbortSignal): Promise<Claim | null> {
    const ending = new AbortController()
    let lease_ends_ms = claim.claimed_at_ms + lease_ms
    let is_over = false
    const keep = async () => {
      const renewed = await transaction(db, (tx) => renew(tx, claim, clock.elapsed()))
      if (!renewed) ending.abort()
      else lease_ends_ms = clock.elapsed() + lease_ms
    }
    const renewing = setInterval(() => {
      keep().catch(onError)
      // Another process may have the mail by then.
      if (clock.elapsed() > lease_ends_ms - slack_ms) ending.abort()
    }, renew_every_ms).unref()
    const onStop = () => {
      setTimeout(() => is_over || ending.abort(), grace_ms).unref()
    }
    stopping?.addEventListener('abort', onStop)
    try {
      const started_ms = clock.elapsed()
      const outcome = await exchange(claim, ending.signal)
      outcomes.set(outcome.result, (outcomes.get(outcome.result) ?? 0) + 1)
      const ended = async (tx: Tx) => {
        await record(tx, claim, outcome, { retry_delays, moment: momentOf(clock), started_ms })
        return next(tx)
      }
      return await write(ended, () => clock.elapsed() > lease_ends_ms)
    } finally {
      is_over = true
      clearInterval(renewing)
      stopping?.removeEventListener('abort', onStop)
    }
  }

  async function exchange(claim: Claim, signal: AbortSignal): Promise<Outcome> {
    try {
      const tokens = claim.tokens === null ? null : (JSON.parse(seal.open(claim.tokens)) as string[])
      const unsubscribe = claim.unsubscribe === null ? null : unsubscribeToken(mailing.mac, claim.unsubscribe)
      const message = await compose(claim, { from, reply_to }, { tokens, unsubscribe, base: mailing.base() })
      const outcome = await smtp.send(message, signal)
      return outcome.result === 'interrupted' ? { ...outcome, error: interrupted } : outcome
    } catch (error) {
      // It counts as a failed attempt. So its retries end, and other mails continue.
      onError(error)
      const failure: AttemptError = {
        code: 'protocol_error',
        message: "The mail could not be built. See the service's log.",
      }
      return { server: smtp.server_name, tls: false, response: null, error: failure, result: 'later' }
    }
  }

  // The server has answered, so retry until the lease ends: the next owner then sends the mail again.
  async function write(ended: Next, isLost: () => boolean): Promise<Claim | null> {
    for (;;) {
      try {
        return await transaction(db, ended)
      } catch (error) {
        onError(error)
        if (isLost()) return null
        await pause(write_pause_ms, undefined, { ref: false })
      }
    }
  }

  return {
    /** Sends mails until none is due. The first sender takes those whose attempt was interrupted, too. */
    async sendDue(sender: number, stopping: AbortSignal): Promise<void> {
      const next: Next = async (tx) =>
        stopping.aborted ? null : claimNext(tx, momentOf(clock), { takes_interrupted: sender === 0 })
      if (stopping.aborted || !(await mayClaim(db, clock.elapsed()))) return
      let claim = await transaction(db, next)
      while (claim) claim = await attempt(claim, next, stopping)
    },
    /** A lease for a mail that the caller passes to attemptNow. */
    lease: () => ({ claim_id: newId('clm'), ends_ms: clock.elapsed() + lease_ms }),
    /** Attempts a mail that was written or claimed with a lease. Resolves when its outcome is written. */
    async attemptNow(workspace_id: number, id: string): Promise<void> {
      const claim = await claimOf(db, workspace_id, id)
      if (claim) await attempt(claim)
    },
    /** The number of attempts by their outcome, for the metrics. */
    outcomes: () => outcomes,
    close: smtp.close,
  }
}
