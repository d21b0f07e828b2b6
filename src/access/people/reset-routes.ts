import { isoTime } from '../../clock.ts'
import { lockEntry } from '../../db/locks.ts'
import { Single } from '../../http/envelope.ts'
import { invalid } from '../../http/errors.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { addressOf, atOpenDoor } from './cookie.ts'
import { recordOfPerson, usualWorkspace } from './memberships.ts'
import { passwordProblems } from './passwords.ts'
import { userOfReset } from './resets.ts'
import { ResetBody, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { endSessions } from './sessions.ts'
import { personContext } from './sign-in.ts'
import { badToken, hashOf } from './tokens.ts'
import { setPassword } from './users.ts'

/** A new password by a link, for who has forgotten the old one. */
export function resetRoutes(app: App, { clock, throttle, accounts, signIn }: PeopleService): void {
  app.post(
    '/api/v1/password-reset',
    {
      onRequest: atOpenDoor,
      schema: {
        'x-extension': true,
        summary: 'Set a new password with a link that an administrator made; all sessions end',
        body: ResetBody,
        response: { 200: Single(SignedIn) },
      },
    },
    async (request, reply) => {
      const { token, password = '' } = request.body
      const hash = hashOf(token)
      const user = await throttle.openLink(addressOf(request), (tx) => userOfReset(tx, clock, hash))
      if (!user?.open) throw badToken()
      const problems = [
        ...bodyProblems(request.body),
        ...passwordProblems('password', request.body.password, user.email),
      ]
      if (problems.length) throw invalid(problems)
      const password_hash = await accounts.hash(user.email, password, { shown: true, key: hash })
      return signIn(request, reply, async (tx) => {
        await lockEntry(tx, 'users', user.id)
        if (!(await userOfReset(tx, clock, hash))?.open) throw badToken()
        const entering = { workspace_id: await usualWorkspace(tx, user.id), user_id: user.id }
        await setPassword(tx, isoTime(clock.now()), user.id, password_hash)
        await endSessions(tx, user.id)
        const context = personContext(clock, entering, request.id)
        await recordOfPerson(tx, context, user.id, { action: 'password_reset' })
        // They were of the old password.
        await throttle.forget(tx, { address: addressOf(request), email: user.email })
        return entering
      })
    },
  )
}
