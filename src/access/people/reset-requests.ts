import { isoTime } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { addWork } from '../../db/work.ts'
import type { Context } from '../../events/context.ts'
import { addressHash, countMail, hour_ms, strangerLimits } from '../../mails/limits.ts'
import { mailingOf } from '../../mails/mailing.ts'
import { resetMail } from '../../mails/messages.ts'
import { writeMail } from '../../mails/outbox.ts'
import { languageOf } from '../../mails/texts.ts'
import type { WorkSteps } from '../../work/run.ts'
import { auditPerson } from './memberships.ts'
import { newToken } from './tokens.ts'
import { emailKey } from './users.ts'

// A request for a new password leaves work, whatever its address. So the answer takes the same time for each address: the
// accounts are looked up later.

/** How long a link of a mail can be used. */
const valid_ms = hour_ms
const max_accounts = 5
const max_an_hour = 3

/** The address that was typed, and a keyed hash of the network address. */
type Asked = { email: string; network: string }

/** Work of no workspace: the accounts of an address may be in any. */
const no_workspace = 0

/** Leaves the work of a request for a new password. */
export function askForReset(tx: Tx, context: Omit<Context, 'workspace_id'>, asked: Asked): void {
  addWork(
    tx,
    { ...context, workspace_id: no_workspace, elapsed: context.elapsed },
    { kind: 'password_reset', subject: newId('wrk'), position: asked },
  )
}

/** Sends the links of a request for a new password, if its address has accounts. */
export const resetWork: WorkSteps<Asked> = {
  kind: 'password_reset',
  async step(tx, { context, position: { email, network } }) {
    const accounts = await accountsOf(tx, email)
    const [first] = accounts
    const mailing = mailingOf(tx)
    if (!first || !mailing) return 'done'
    const once = newId('clm')
    const to = addressHash(mailing, first.email)
    const limits = [
      ...strangerLimits(mailing, { recipient: first.email, network }),
      { subject: `reset ${to}`, max: max_an_hour, window_ms: hour_ms },
    ]
    const is_limited = (await countMail(tx, limits, context.elapsed(), once)) > 0
    const expires_at = isoTime(context.now_ms + valid_ms)
    const links = accounts.map((account) => ({ ...account, ...newToken() }))
    if (!is_limited)
      for (const { id: user_id, hash } of links) {
        await tx.insertInto('reset_links').values({ hash, user_id, expires_at }).execute()
        await auditPerson(tx, context, user_id, { action: 'reset_link_made' })
      }
    writeMail(
      tx,
      { ...context, workspace_id: first.workspace_id },
      {
        kind: 'password_reset',
        recipient: first.email,
        user_id: first.id,
        language: languageOf(first.language),
        content: (base) =>
          resetMail(
            languageOf(first.language),
            base,
            links.map(({ name }) => name),
          ),
        tokens: links.map(({ token }) => token),
        useless_at: expires_at,
        ...(is_limited && { not_sent: 'limit' }),
      },
    )
    return 'done'
  },
}

/** The accounts of an address that are in a workspace, the last used first. */
const accountsOf = (tx: Tx, email: string) =>
  tx
    .selectFrom('users as u')
    .innerJoin('memberships as m', 'm.user_id', 'u.id')
    .select(['u.id', 'u.name', 'u.email', 'u.language', 'm.workspace_id', 'm.entered_at'])
    .where('u.email_key', '=', emailKey(email))
    .orderBy('m.entered_at', 'desc')
    .limit(100)
    .execute()
    .then((rows) =>
      rows.filter((row, n) => rows.findIndex(({ id }) => id === row.id) === n).slice(0, max_accounts),
    )
