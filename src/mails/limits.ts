import { sql } from 'kysely'
import { lockText } from '../db/locks.ts'
import { prepare } from '../db/statements/prepare.ts'
import { prepareInsert } from '../db/statements/recordset.ts'
import type { Tx } from '../db/tx.ts'
import { addressKey } from './address.ts'
import type { Mailing } from './mailing.ts'

export const hour_ms = 3_600_000
export const day_ms = 24 * hour_ms

/** At most `max` mails with a subject in a time. The subject is an id, or a keyed hash of an address. */
export type Limit = { subject: string; max: number; window_ms: number }

/** A keyed hash of an address, by which mails to it are counted. */
export const addressHash = ({ mac }: Mailing, address: string): string =>
  mac('mail-limit', addressKey(address))

// Mails that strangers cause, over all processes: to one address, whatever the workspace, and from one network address.
const max_to_address_a_day = 10
const max_from_network_an_hour = 20

/** The limits of a mail that a stranger causes. `network` is a keyed hash of the network address. */
export const strangerLimits = (
  mailing: Mailing,
  { recipient, network }: { recipient: string; network?: string | null },
): Limit[] => [
  { subject: `to ${addressHash(mailing, recipient)}`, max: max_to_address_a_day, window_ms: day_ms },
  ...(network ? [{ subject: `from ${network}`, max: max_from_network_an_hour, window_ms: hour_ms }] : []),
]

const oldestCounted = prepare(
  (p: { subject: string; since_ms: number; max: number }) => sql<{
    at_ms: number
  }>`SELECT at_ms FROM mail_causes
    WHERE subject = ${p.subject} AND at_ms > ${p.since_ms} ORDER BY at_ms DESC LIMIT 1 OFFSET ${p.max} - 1`,
)
const insert = prepareInsert('mail_causes', { subject: 'text!', at_ms: 'bigint!', mail_id: 'text!' })

/**
 * The wait until limits allow another mail, in ms; 0 if they do now, and then it counts. Exact over all processes: two with
 * one subject wait for each other.
 */
export async function countMail(
  tx: Tx,
  limits: readonly Limit[],
  elapsed_ms: number,
  mail_id: string,
): Promise<number> {
  // The same order in every transaction, so that two of them cannot deadlock.
  const sorted = [...limits].sort((a, b) => (a.subject < b.subject ? -1 : 1))
  for (const { subject } of sorted) await lockText(tx, 'mails', 0, subject)
  const waits = [0]
  for (const { subject, max, window_ms } of sorted) {
    const since_ms = elapsed_ms - window_ms
    const [oldest] = await oldestCounted(tx, { subject, since_ms, max })
    if (oldest) waits.push(Number(oldest.at_ms) - since_ms)
  }
  const wait_ms = Math.max(...waits)
  if (wait_ms === 0)
    tx.rows(
      insert,
      sorted.map(({ subject }) => ({ subject, at_ms: elapsed_ms, mail_id })),
    )
  return wait_ms
}

/** Removes up to `limit` rows that no limit counts any longer, and returns how many. */
export async function removeOldCauses(tx: Tx, elapsed_ms: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('mail_causes')
    .selectAll()
    .where('at_ms', '<=', elapsed_ms - day_ms)
    .limit(limit)
    .execute()
  for (const row of old)
    await tx
      .deleteFrom('mail_causes')
      .where((eb) => eb.and(row))
      .execute()
  return old.length
}
