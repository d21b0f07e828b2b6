import { lockEntry } from '../../db/locks.ts'
import { recordChange } from '../../events/audit.ts'
import { any_session } from '../../http/auth.ts'
import { Deleted, deleted, Single } from '../../http/envelope.ts'
import { ApiError, invalid, unauthorized } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { atOpenDoor, cookieOf, noCookie } from './cookie.ts'
import { roleOf, usualWorkspace } from './memberships.ts'
import { SignedIn, SignInBody, SwitchBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { placeOf, signedIn } from './session-view.ts'
import { moveSession } from './sessions.ts'
import { findUser } from './users.ts'

const path = '/api/v1/session'

// One answer, whether the e-mail is unknown or the password wrong.
const refusal = () =>
  new ApiError('unauthorized', 'The e-mail or the password is wrong.', {
    headers: { 'www-authenticate': 'Bearer' },
  })

/** Signing in and out, and the workspace that is worked in. */
export function signInRoutes(
  app: App,
  { db, write, stillIn, authenticate, signIn, scopes }: PeopleService,
): void {
  app.post(
    path,
    {
      onRequest: atOpenDoor,
      schema: {
        ...{ 'x-extension': true, 'x-signs-in': true },
        summary: 'Sign in',
        body: SignInBody,
        response: { 200: Single(SignedIn) },
      },
    },
    async (request, reply) => {
      const problems = bodyProblems(request.body)
      if (problems.length) throw invalid(problems)
      const { email = '', password = '' } = request.body
      const user = await authenticate(request, email, password)
      if (!user) throw refusal()
      return signIn(request, reply, async (tx) => {
        // Whoever changes the password or removes the member at this moment has done it now, or ends this session too.
        await lockEntry(tx, 'users', user.id)
        // Changed while it was checked: what was right a moment ago is not any more.
        if ((await findUser(tx, user.id))?.password_hash !== user.password_hash) throw refusal()
        return { workspace_id: await usualWorkspace(tx, user.id), user_id: user.id }
      })
    },
  )

  app.get(
    path,
    {
      config: { scope: any_session },
      schema: {
        'x-extension': true,
        summary: 'Read who is signed in, where, and what that allows',
        response: { 200: Single(SignedIn) },
      },
    },
    async (request, reply) => {
      const session = await signedIn(db, placeOf(request), scopes)
      if (!session) throw unauthorized()
      return sendRecord(request, reply, session)
    },
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: path,
    config: { scope: any_session },
    schema: {
      'x-extension': true,
      summary: 'Go to another of the own workspaces',
      body: SwitchBody,
      response: { 200: Single(SignedIn) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const place = placeOf(request)
        // Of two tabs that go somewhere at once, the second one shows a text that counts no more.
        await lockEntry(tx, 'users', place.user_id)
        await stillIn(tx, request)
        const before = await signedIn(tx, place, scopes)
        if (!before) throw unauthorized()
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        const { workspace_id = place.workspace_id } = request.body
        if (workspace_id === place.workspace_id) return { record: before }
        if (!(await roleOf(tx, workspace_id, place.user_id)))
          throw invalid([
            {
              ...{ field: 'workspace_id', code: 'not_found' },
              message: `workspace_id ${workspace_id} is no workspace of yours.`,
            },
          ])
        const there = { ...context, workspace_id }
        const token = await moveSession(tx, there, place.session_id, place.user_id)
        await recordChange(tx, there, { action: 'entered', kind: 'sessions', record_id: place.session_id })
        const after = await signedIn(tx, { ...place, workspace_id }, scopes)
        if (!after) throw unauthorized()
        return { record: after, set_cookie: cookieOf(request, token) }
      }),
  })

  app.delete(
    path,
    {
      config: { scope: any_session },
      schema: { 'x-extension': true, summary: 'Sign out', response: { 200: Deleted } },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const place = placeOf(request)
        const before = await signedIn(tx, place, scopes)
        if (before) checkMatch(request, before)
        const { numDeletedRows } = await tx
          .deleteFrom('sessions')
          .where('id', '=', place.session_id)
          .executeTakeFirst()
        if (numDeletedRows)
          await recordChange(tx, context, {
            ...{ action: 'signed_out', kind: 'sessions', record_id: place.session_id },
          })
        return { body: deleted('The session'), set_cookie: noCookie(request) }
      }),
  )
}
