import { type Db, transaction } from '../src/db/db.ts'
import { contextOf, service } from '../src/events/context.ts'
import { mayClaim } from '../src/mails/claim.ts'
import { setMailing } from '../src/mails/mailing.ts'
import { type NewMail, writeMail } from '../src/mails/outbox.ts'
import type { Rapport, turnableClock } from './harness.ts'
import { beside } from './keys.ts'
import { until } from './webhooks.ts'

/** The settings of a service that sends mails to a server. On a busy machine, each answer of the server may take long. */
export const mailSettings = (url: string, more: Record<string, string> = {}) => ({
  SMTP_URL: url,
  MAIL_FROM: 'Acme <crm@example.com>',
  SMTP_TIMEOUT_MS: '60000',
  ...more,
})

type Clock = ReturnType<typeof turnableClock>

/** The options of a service that sends mails to a server. Its address is read when the service starts: the server starts before. */
export const mailsTo = (server: { url: string }, clock: Clock, more?: Record<string, string>) => ({
  clock,
  get env() {
    return mailSettings(server.url, more)
  },
})
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
  besideMails(rapport, (db) =>
    transaction(db, async (tx) => {
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
    }),
  )

/**
 * Waits until no mail is tried, and none is due. A jump of the clock during a try would end its lease, and the mail would be
 * tried once more beside it.
 */
export const mailsRest = (rapport: Rapport, clock: Clock): Promise<boolean> =>
  until(
    () =>
      besideMails(rapport, async (db) => {
        const elapsed_ms = clock.elapsed()
        const tried = await db
          .selectFrom('mails')
          .select('id')
          .where((eb) => eb('status', '=', 'pending').and('claim_id', 'is not', null))
          .where('run_at_ms', '>', elapsed_ms)
          .execute()
        return tried.length > 0 || (await mayClaim(db, elapsed_ms))
      }),
    (is_busy) => !is_busy,
  )

/** The bytes of a mail that arrived. Two mails to one address may arrive in any order. */
export const arrivedMail = (
  { accepted }: { accepted: readonly { raw: string }[] },
  { id }: { id: string },
): string => accepted.findLast(({ raw }) => raw.includes(`<${id}@`))?.raw ?? ''

/** Works on the database of a service, as a process that may write mails. */
export const besideMails = <T>(rapport: Rapport, work: (db: Db) => Promise<T>): Promise<T> =>
  beside(rapport.data_dir, (db) => {
    setMailing(db, {
      configured: true,
      seal: nothing,
      address: 'crm@example.com',
      base: () => rapport.url,
      mac: () => '',
      mailNotices: async () => {},
    })
    return work(db)
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

/** The parts of a message by their types, decoded. */
export function partsOf(raw: string): Record<string, string> {
  const parts: Record<string, string> = {}
  for (const part of raw.split(/^--[^\r\n]+\r\n/m)) {
    const [head = '', ...body] = part.split('\r\n\r\n')
    const type = /^Content-Type: ([^;\r\n]+)/im.exec(head)?.[1]
    if (!type || type.startsWith('multipart')) continue
    const text = body.join('\r\n\r\n').replace(/\r\n--[^\r\n]*--[\s\S]*$/, '')
    const encoding = /^Content-Transfer-Encoding: (\S+)/im.exec(head)?.[1]
    parts[type] =
      encoding === 'base64'
        ? Buffer.from(text, 'base64').toString()
        : encoding === 'quoted-printable'
          ? Buffer.from(
              text
                .replaceAll('=\r\n', '')
                .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
              'latin1',
            ).toString()
          : text
  }
  return parts
}
