import { transaction } from '../src/db/db.ts'
import { contextOf, service } from '../src/events/context.ts'
import { setMailing } from '../src/mails/mailing.ts'
import { type NewMail, writeMail } from '../src/mails/outbox.ts'
import type { Rapport, turnableClock } from './harness.ts'
import { beside } from './keys.ts'
import { until } from './webhooks.ts'

/** The settings of a service that sends mails to a server. */
export const mailSettings = (url: string, more: Record<string, string> = {}) => ({
  SMTP_URL: url,
  MAIL_FROM: 'Acme <crm@example.com>',
  SMTP_TIMEOUT_MS: '1000',
  ...more,
})

type Clock = ReturnType<typeof turnableClock>
const nothing = { seal: () => '', open: () => '', mac: () => '' }

/** Writes mails past the API, in one transaction, as an operation does. Returns their ids. */
export const queueMails = (rapport: Rapport, clock: Clock, ...mails: Partial<NewMail>[]): Promise<string[]> =>
  queueMailsOf(rapport, 1, clock, mails)

/** The same in any workspace. */
export const queueMailsOf = (
  rapport: Rapport,
  workspace_id: number,
  clock: Pick<Clock, 'now' | 'elapsed'>,
  mails: Partial<NewMail>[],
): Promise<string[]> =>
  beside(rapport.data_dir, (db) => {
    setMailing(db, {
      configured: true,
      seal: nothing,
      address: 'crm@example.com',
      base: () => rapport.url,
    })
    return transaction(db, async (tx) => {
      const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
      return mails.map((mail) => {
        const written: NewMail = {
          kind: 'test',
          recipient: 'ana@example.com',
          language: 'en',
          content: () => ({ subject: 'A mail', blocks: [{ text: 'Its text.' }] }),
          ...mail,
        }
        return writeMail(tx, context, written) ?? ''
      })
    })
  })

/** A mail as the log shows it. */
export const mailOf = async (rapport: Rapport, id: string) => {
  const { status, body, text } = await rapport.call('GET', `/api/v1/mails/${id}`)
  if (status !== 200) throw new Error(text)
  return body.data
}

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of a mail
type Shown = any

/** Waits until the log shows a mail as it should be. */
export const untilMail = (rapport: Rapport, id: string, is: (mail: Shown) => boolean): Promise<Shown> =>
  until(() => mailOf(rapport, id), is)

/** The mails of the log, the newest first. */
export const mailsOf = async (rapport: Rapport, query = ''): Promise<Shown[]> =>
  (await rapport.call('GET', `/api/v1/mails?per_page=100${query}`)).body.data
