import type { Fresh } from '../db/notifications.ts'
import type { Seal } from '../db/seal.ts'
import { adapterOf, type Db, type Tx } from '../db/tx.ts'

/** The needs of a transaction that writes a mail. */
export type Mailing = {
  /** Whether SMTP_URL is set. Otherwise a mail is finished when it is written. */
  configured: boolean
  seal: Seal
  /** Signs what must stay valid when SECRET_KEY is rotated: links to unsubscribe, and the subjects of limits. */
  mac: Seal['mac']
  /** The address of MAIL_FROM. */
  address: string
  /** The beginning of links: never from a request. */
  base(): string
  /** Writes the mails of new notifications. */
  mailNotices(tx: Tx, notices: readonly Fresh[]): Promise<void>
}

// By the engine, which all transactions of a database share. Operations write mails in the transaction of their caller, and
// have only that. Commands set nothing, and write no mail.
const of_database = new WeakMap<object, Mailing>()

export const setMailing = (db: Db, mailing: Mailing): void => void of_database.set(adapterOf(db), mailing)
export const mailingOf = (db: Db): Mailing | null => of_database.get(adapterOf(db)) ?? null
