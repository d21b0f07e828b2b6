import { invalid, refuse } from '../../errors.ts'
import { any_session } from '../../http/auth.ts'
import { Deleted, deleted } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { noCookie } from './cookie.ts'
import { closeOwnAccount, removeClosed } from './deletion.ts'
import { createOwnPassword, wrongPassword } from './own-password.ts'
import { DeletionBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { ownSession } from './session-view.ts'

/** Deleting the own account. */
export function deletionRoutes(app: App, { db, write, recheckAccess, throttle }: PeopleService): void {
  const proven = createOwnPassword(db, throttle)

  operation(
    app,
    {
      method: 'POST',
      path: '/api/v1/profile/delete',
      scope: any_session,
      summary: 'Delete the own account and its personal data; keys and records stay',
      body: DeletionBody,
      answers: { 200: Deleted },
      // The body holds a password.
      repeatable: false,
      conflict: true,
    },
    async (request, reply) => {
      const { user_id } = ownSession(request)
      refuse(bodyProblems(request.body))
      const proof = await proven(request, String(request.body.current_password))
      if (!proof) throw invalid([wrongPassword])
      return write.inSteps(request, reply, {
        async before(tx, context) {
          await closeOwnAccount(tx, context, { user_id, proof }, () => recheckAccess(tx, request))
          return context.now
        },
        // After the commit: a person whose request is refused keeps the name in the audit log.
        meanwhile: (now) => removeClosed(db, user_id, now),
        after: async () => ({ body: deleted('The account'), set_cookie: noCookie(request) }),
      })
    },
  )
}
