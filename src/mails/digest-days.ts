import type { Tx } from '../db/tx.ts'
import { dayAt, wallAt } from '../zones/wall.ts'
import { type MailPreferences, preferencesOf } from './preferences.ts'

// A member gets one digest a day. The day is that of the person's zone, and the membership keeps the last one: so a clock that
// is set back, a move to another zone, a restart and a second process repeat none.

type Person = { time_zone: string | null; mail_preferences: MailPreferences }
type Member = {
  time_zone: string | null
  mail_preferences: string | null
  digest_day: string | null
  created_at: string
}

/** The wall clock of a person: the day, and whether the time of the digest is reached. */
function wallOf({ time_zone, mail_preferences: { daily_digest_at } }: Person, at_ms: number) {
  const zone = time_zone ?? 'UTC'
  const day = dayAt(at_ms, zone)
  // A time that the clock skips is reached with the next one.
  return { day, is_reached: wallAt(at_ms, zone) >= Date.parse(`${day}T${daily_digest_at}Z`) }
}

/** The day for which a member is due a digest; null: none is due. */
export function dueDay(member: Member, now_ms: number): string | null {
  const person = { ...member, mail_preferences: preferencesOf(member.mail_preferences) }
  const { day, is_reached } = wallOf(person, now_ms)
  if (!person.mail_preferences.daily_digest || !is_reached || (member.digest_day ?? '') >= day) return null
  // A member who joins after the time of the digest gets the first one on the next day.
  const joined = wallOf(person, Date.parse(member.created_at))
  return joined.day === day && joined.is_reached ? null : day
}

/** Lets the digests of a person begin at the next time that they chose, also if the one of today is over. */
export async function beginDigests(
  tx: Tx,
  user_id: string,
  { before, after }: { before: Person; after: Person },
  now_ms: number,
): Promise<void> {
  const [old, wanted] = [before.mail_preferences, after.mail_preferences]
  const is_same =
    old.daily_digest && old.daily_digest_at === wanted.daily_digest_at && before.time_zone === after.time_zone
  if (!wanted.daily_digest || is_same) return
  const { day, is_reached } = wallOf(after, now_ms)
  if (!is_reached) return
  await tx
    .updateTable('memberships')
    .set({ digest_day: day })
    .where('user_id', '=', user_id)
    .where((eb) => eb.or([eb('digest_day', 'is', null), eb('digest_day', '<', day)]))
    .execute()
}
