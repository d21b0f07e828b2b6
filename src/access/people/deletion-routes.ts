import type { Db } from '../../db/db.ts'
import { any_session } from '../../http/auth.ts'
import { Deleted, deleted } from '../../http/envelope.ts'
import { conflict, invalid } from '../../http/errors.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { noCookie } from './cookie.ts'
import { closeAccount, lockAccount, ownedAlone, removeClosed } from './deletion.ts'
import { createOwnPassword, wrongPassword } from './own-password.ts'
import { DeletionBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { placeOf } from './session-view.ts'
import { findUser } from './users.ts'

async function refuseLastOwner(db: Db, user_id: string): Promise<void> {
  const names = await ownedAlone(db, user_id)
  if (names.length)
    throw conflict(`You are the only owner of ${names.join(', ')}. Make somebody else an owner first.`)
}

/** Deleting the own account. */
export function deletionRoutes(app: App, { db, write, stillIn, throttle }: PeopleService): void {
  const proven = createOwnPassword(db, throttle)
  app.post(
    '/api/v1/profile/delete',
    {
      config: { scope: any_session, unrepeatable: true },
      schema: {
        'x-extension': true,
        'x-conflict': true,
        summary: 'Delete the own account, with what is known of the person; keys and records stay',
        body: DeletionBody,
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { user_id } = placeOf(request)
      const problems = bodyProblems(request.body)
      if (problems.length) throw invalid(problems)
      const proof = await proven(request, String(request.body.current_password))
      if (!proof) throw invalid([wrongPassword])
      let now = ''
      return write.inSteps(request, reply, {
        async before(tx, context) {
          now = context.now
          await lockAccount(tx, user_id)
          await stillIn(tx, request)
          // Changed while it was checked: then it is not the current one any more.
          if ((await findUser(tx, user_id))?.password_hash !== proof) throw invalid([wrongPassword])
          await refuseLastOwner(tx, user_id)
          await closeAccount(tx, context, user_id)
        },
        // Only now: whoever is refused keeps what the audit log tells.
        meanwhile: () => removeClosed(db, user_id, now),
        after: async () => ({ body: deleted('The account'), set_cookie: noCookie(request) }),
      })
    },
  )
}
