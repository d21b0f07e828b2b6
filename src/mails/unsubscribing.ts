import { timingSafeEqual } from 'node:crypto'
import { rowLock } from '../db/locks.ts'
import type { Seal } from '../db/seal.ts'
import type { Tx } from '../db/tx.ts'
import { addressKey } from './address.ts'
import type { Mailing } from './mailing.ts'
import { type MailSwitch, mail_switches, preferencesOf, storedPreferences } from './preferences.ts'

/** Reminders of a workspace to the address of a visitor, which is a keyed hash. */
type Reminders = { workspace_id: number; address_hash: string }
/** The mails that a link to unsubscribe switches off. */
export type Unsubscribed = { user_id: string; name: MailSwitch } | Reminders

const of_reminders = 'reminders'

export const unsubscribeSubject = (which: Unsubscribed): string =>
  'user_id' in which
    ? `${which.user_id} ${which.name}`
    : `${of_reminders} ${which.workspace_id} ${which.address_hash}`

/** The hash by which a workspace knows the address of a visitor who wants no reminders. */
export const visitorHash = ({ mac }: Pick<Mailing, 'mac'>, workspace_id: number, address: string): string =>
  mac(of_reminders, `${workspace_id} ${addressKey(address)}`)

const macOf = (mac: Seal['mac'], subject: string) => mac('unsubscribe', subject)

/** The token of a link. It holds its subject with a signature, and opens nothing else. */
export const unsubscribeToken = (mac: Seal['mac'], subject: string): string =>
  `${Buffer.from(subject).toString('base64url')}.${macOf(mac, subject)}`

/** The subject of a token; null for one that this installation did not make. */
export function unsubscribedBy(signs: Seal['mac'], token: string): Unsubscribed | null {
  const [, encoded = '', mac = ''] = /^([\w-]{1,200})\.([\w-]{43})$/.exec(token) ?? []
  const subject = Buffer.from(encoded, 'base64url').toString()
  const expected = macOf(signs, subject)
  if (mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return null
  const [user_id = '', name, address_hash = ''] = subject.split(' ')
  if (user_id === of_reminders) return { workspace_id: Number(name), address_hash }
  const found = mail_switches.find((one) => one === name)
  return found ? { user_id, name: found } : null
}

/** Whether a visitor wants no reminders of a workspace. */
export const hasStopped = async (tx: Tx, reminders: Reminders): Promise<boolean> =>
  (await tx
    .selectFrom('reminder_stops')
    .select('workspace_id')
    .where((eb) => eb.and(reminders))
    .executeTakeFirst()) !== undefined

/** Switches off mails. A no-op the second time, and after the account is gone. */
export async function unsubscribe(tx: Tx, which: Unsubscribed): Promise<void> {
  if (!('user_id' in which)) {
    await tx
      .insertInto('reminder_stops')
      .values(which)
      .onConflict((one) => one.doNothing())
      .execute()
    return
  }
  const { user_id, name } = which
  const user = await tx
    .selectFrom('users')
    .select('mail_preferences')
    .where('id', '=', user_id)
    .modifyEnd(rowLock(tx, 'FOR NO KEY UPDATE'))
    .executeTakeFirst()
  if (!user) return
  const preferences = { ...preferencesOf(user.mail_preferences), [name]: false }
  await tx
    .updateTable('users')
    .set({ mail_preferences: storedPreferences(preferences) })
    .where('id', '=', user_id)
    .execute()
}
