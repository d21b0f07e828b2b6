import type { Db } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { ApiError, type FieldProblem, invalid, unauthorized } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import { any_session } from '../../http/auth.ts'
import { Deleted, deleted, Single } from '../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { cookieOf, guardOpenRoute, noCookie } from './cookie.ts'
import { lastWorkspace, roleOf } from './memberships.ts'
import { SignedIn, SignInBody, SwitchBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { type OwnSession, ownSession, signedIn } from './session-view.ts'
import { endSession, moveSession } from './sessions.ts'
import { findUser } from './users.ts'

const path = '/api/v1/session'

// The same answer for an unknown e-mail and a wrong password.
const refusal = () =>
  new ApiError('unauthorized', 'The e-mail or the password is wrong.', {
    headers: { 'www-authenticate': 'Bearer' },
  })

const notOwn = (workspace_id: number): FieldProblem => ({
  field: 'workspace_id',
  code: 'not_found',
  message: `workspace_id ${workspace_id} is no workspace of yours.`,
})

/** Signing in and out, and the workspace that is worked in. */
export function signInRoutes(
  app: App,
  { db, write, recheckAccess, authenticate, signIn, role_scopes }: PeopleService,
): void {
  const current = async (handle: Db, own: OwnSession): Promise<SignedIn> => {
    const shown = await signedIn(handle, own, role_scopes)
    if (!shown) throw unauthorized()
    return shown
  }

  operation(
    app,
    {
      method: 'POST',
      path,
      scope: 'open',
      summary: 'Sign in',
      body: SignInBody,
      answers: { 200: Single(SignedIn) },
      extension: true,
      repeatable: false,
      signs_in: true,
      onRequest: guardOpenRoute,
    },
    async (request, reply) => {
      const problems = bodyProblems(request.body)
      if (problems.length) throw invalid(problems)
      const { email = '', password = '' } = request.body
      const user = await authenticate(request, email, password)
      if (!user) throw refusal()
      return signIn(request, reply, async (tx) => {
        // A concurrent change of the password or removal of the member either committed before, or ends this session too.
        await lockEntry(tx, 'users', user.id)
        // The password may have changed while it was checked.
        if ((await findUser(tx, user.id))?.password_hash !== user.password_hash) throw refusal()
        return { workspace_id: await lastWorkspace(tx, user.id), user_id: user.id }
      })
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: any_session,
      summary: 'Read who is signed in, where, and what that allows',
      answers: { 200: Single(SignedIn) },
      extension: true,
      conditional: true,
    },
    async (request, reply) => sendRecord(request, reply, await current(db, ownSession(request))),
  )

  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path,
      scope: any_session,
      summary: 'Go to another of the own workspaces',
      body: SwitchBody,
      answers: { 200: Single(SignedIn) },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const own = ownSession(request)
        const { session_id, user_id } = own
        // Two tabs that switch at the same time: the second one shows a token that is no longer valid.
        await lockEntry(tx, 'users', user_id)
        await recheckAccess(tx, request)
        const before = await current(tx, own)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        const { workspace_id = own.workspace_id } = request.body
        if (workspace_id === own.workspace_id) return { record: before }
        if (!(await roleOf(tx, workspace_id, user_id))) throw invalid([notOwn(workspace_id)])
        const target = { ...context, workspace_id }
        const token = await moveSession(tx, target, session_id, user_id)
        await recordChange(tx, target, { action: 'entered', kind: 'sessions', record_id: session_id })
        return {
          record: await current(tx, { ...own, workspace_id }),
          set_cookie: cookieOf(request, token),
        }
      }),
  )

  operation(
    app,
    {
      method: 'DELETE',
      path,
      scope: any_session,
      summary: 'Sign out',
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const own = ownSession(request)
        const before = await signedIn(tx, own, role_scopes)
        if (before) checkMatch(request, before)
        await endSession(tx, context, own.session_id, 'signed_out')
        return { body: deleted('The session'), set_cookie: noCookie(request) }
      }),
  )
}
