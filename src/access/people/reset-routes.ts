import { isoTime } from '../../clock.ts'
import { transaction } from '../../db/db.ts'
import { conflict, refuse } from '../../errors.ts'
import { Single } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { mailingOf } from '../../mails/mailing.ts'
import { addressOf, open_post } from './cookie.ts'
import { passwordProblems } from './passwords.ts'
import { askForReset } from './reset-requests.ts'
import { resetPassword, userOfReset } from './resets.ts'
import { ResetBody, ResetRequestBody, ResetRequested, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { badToken, hashOf } from './tokens.ts'

/** A new password by a link, for people who have forgotten the old one. */
export function resetRoutes(app: App, service: PeopleService): void {
  const { clock, throttle, accounts, signIn } = service
  requestRoute(app, service)

  operation(
    app,
    {
      ...open_post,
      path: '/api/v1/password-reset',
      id: 'resetPassword',
      summary: 'Set a new password with a link of a mail or of an administrator; all sessions end',
      body: ResetBody,
      answers: { 200: Single(SignedIn) },
    },
    async (request, reply) => {
      const { token, password = '' } = request.body
      const hash = hashOf(token)
      const address = addressOf(request)
      const user = await throttle.checkLink(address, (tx) => userOfReset(tx, clock, hash))
      if (!user?.open) throw badToken()
      const { id, email } = user
      const problems = [
        ...bodyProblems(request.body),
        ...passwordProblems('password', request.body.password, email),
      ]
      refuse(problems)
      const password_hash = await accounts.hash(email, password, { identified: true, key: hash })
      return signIn(
        request,
        reply,
        async (tx) => {
          const by = { clock, request_id: request.id, hash }
          const member = await resetPassword(tx, by, id, password_hash)
          // The counted failures were for the old password.
          await throttle.forget(tx, { address, email })
          return member
        },
        { tells_person: true },
      )
    },
  )
}

/** POST of a request for a link. The answer is the same for each address, and takes the same time. */
function requestRoute(app: App, { db, clock, seal }: PeopleService): void {
  operation(
    app,
    {
      ...open_post,
      path: '/api/v1/password-reset/request',
      id: 'requestPasswordReset',
      summary: 'Ask for a mail with a link that sets a new password',
      description:
        'The mail has a link for each account of the address. A link works once, for an hour. The answer does not say whether there is an account. 409 if the service sends no mail.',
      body: ResetRequestBody,
      answers: { 202: ResetRequested },
      conflict: true,
    },
    async (request, reply) => {
      if (!mailingOf(db)?.configured)
        throw conflict('mail_off', 'No mail is sent: SMTP_URL is not set. Ask an administrator for a link.')
      refuse(bodyProblems(request.body))
      const { email = '' } = request.body
      const network = seal.mac('mail-network', addressOf(request))
      const now_ms = clock.now()
      const visitor = { kind: 'visitor', id: null } as const
      const context = {
        actor: visitor,
        request_id: request.id,
        now: isoTime(now_ms),
        now_ms,
        elapsed: clock.elapsed,
      }
      await transaction(db, async (tx) => askForReset(tx, context, { email, network }))
      return reply.status(202).send({
        success: true,
        message: 'If the address has an account, a mail with a link is on its way.',
      })
    },
  )
}
