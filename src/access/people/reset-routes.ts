import { refuse } from '../../errors.ts'
import { Single } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { addressOf, guardOpenRoute } from './cookie.ts'
import { passwordProblems } from './passwords.ts'
import { resetPassword, userOfReset } from './resets.ts'
import { ResetBody, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { badToken, hashOf } from './tokens.ts'

/** A new password by a link, for people who have forgotten the old one. */
export function resetRoutes(app: App, { clock, throttle, accounts, signIn }: PeopleService): void {
  operation(
    app,
    {
      method: 'POST',
      path: '/api/v1/password-reset',
      scope: 'open',
      id: 'resetPassword',
      summary: 'Set a new password with a link that an administrator made; all sessions end',
      body: ResetBody,
      answers: { 200: Single(SignedIn) },
      extension: true,
      repeatable: false,
      onRequest: guardOpenRoute,
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
      return signIn(request, reply, async (tx) => {
        const by = { clock, request_id: request.id, hash }
        const member = await resetPassword(tx, by, id, password_hash)
        // The counted failures were for the old password.
        await throttle.forget(tx, { address, email })
        return member
      })
    },
  )
}
