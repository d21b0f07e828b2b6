import { timingSafeEqual } from 'node:crypto'
import { rowLock } from '../db/locks.ts'
import type { Seal } from '../db/seal.ts'
import type { Tx } from '../db/tx.ts'
import { type MailSwitch, mail_switches, preferencesOf, storedPreferences } from './preferences.ts'

/** A kind of mails of a person, which a link to unsubscribe switches off. */
export type Unsubscribed = { user_id: string; name: MailSwitch }

export const unsubscribeSubject = ({ user_id, name }: Unsubscribed): string => `${user_id} ${name}`

const macOf = (seal: Pick<Seal, 'mac'>, subject: string) => seal.mac('unsubscribe', subject)

/** The token of a link. It holds its subject with a signature, and opens nothing else. */
export const unsubscribeToken = (seal: Pick<Seal, 'mac'>, subject: string): string =>
  `${Buffer.from(subject).toString('base64url')}.${macOf(seal, subject)}`

/** The subject of a token; null for one that this installation did not make. */
export function unsubscribedBy(seal: Pick<Seal, 'mac'>, token: string): Unsubscribed | null {
  const [, encoded = '', mac = ''] = /^([\w-]{1,200})\.([\w-]{43})$/.exec(token) ?? []
  const subject = Buffer.from(encoded, 'base64url').toString()
  const expected = macOf(seal, subject)
  if (mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return null
  const [user_id = '', name] = subject.split(' ')
  const found = mail_switches.find((one) => one === name)
  return found ? { user_id, name: found } : null
}

/** Switches off a kind of mails of a person. A no-op the second time, and after the account is gone. */
export async function unsubscribe(tx: Tx, { user_id, name }: Unsubscribed): Promise<void> {
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
