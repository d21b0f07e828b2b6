import type { Db } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { ApiError, type FieldProblem, invalid, refuse, unauthorized } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import { any_session } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { Single } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { cookieOf, noCookie, open_post } from './cookie.ts'
import { lastWorkspace, roleOf } from './memberships.ts'
import { SignedIn, SignInBody, SwitchBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { type OwnSession, ownSession, signedIn } from './session-view.ts'
import { endSession, moveSession } from './sessions.ts'
import { hasPassword } from './users.ts'

const path = '/api/v1/session'

// The same answer for an unknown e-mail and a wrong password.
const refusal = () =>
  new ApiError('unauthorized', 'The e-mail or the password is wrong.', {
    headers: { 'www-authenticate': 'Bearer' },
  })

const notOwn = (workspace_id: number): FieldProblem => ({
  field: 'workspace_id',
  code: 'not_found',
  message: `workspace_id ${workspace_id} is not one of your workspaces.`,
})

/** Signing in and out, and the workspace that is worked in. */
export function signInRoutes(app: App, service: PeopleService): void {
  const { db, clock, authenticate, signIn, role_scopes } = service
  const session = endpoints(app, service, { path, reads: any_session, noun: 'session' })
  const current = async (handle: Db, own: OwnSession): Promise<SignedIn> => {
    const shown = await signedIn(handle, own, role_scopes, clock.now())
    if (!shown) throw unauthorized()
    return shown
  }

  operation(
    app,
    {
      ...open_post,
      path,
      id: 'signIn',
      summary: 'Sign in',
      body: SignInBody,
      answers: { 200: Single(SignedIn) },
      signs_in: true,
    },
    async (request, reply) => {
      refuse(bodyProblems(request.body))
      const { email = '', password = '' } = request.body
      const user = await authenticate(request, email, password)
      if (!user) throw refusal()
      return signIn(
        request,
        reply,
        async (tx) => {
          // A concurrent change of the password or removal of the member either committed before, or ends this session too.
          await lockEntry(tx, 'users', user.id)
          // The password may have changed while it was checked.
          if (!(await hasPassword(tx, user.id, user.password_hash))) throw refusal()
          return { workspace_id: await lastWorkspace(tx, user.id), user_id: user.id }
        },
        { tells_person: true },
      )
    },
  )

  session.read(
    { summary: 'Read the person, the workspace and the scopes of the session', view: SignedIn },
    (request) => current(db, ownSession(request)),
  )

  session.change(
    {
      id: 'switchWorkspace',
      summary: 'Switch to another of the own workspaces',
      body: SwitchBody,
      view: SignedIn,
    },
    async (tx, context, { request, body, problems, expect, recheck }) => {
      const own = ownSession(request)
      const { session_id, user_id } = own
      // If two tabs switch at the same time, the token of the second one is no longer valid.
      await lockEntry(tx, 'users', user_id)
      await recheck()
      const before = await current(tx, own)
      expect(before)
      refuse(problems)
      const { workspace_id = own.workspace_id } = body
      if (workspace_id === own.workspace_id) return { record: before }
      if (!(await roleOf(tx, workspace_id, user_id))) throw invalid([notOwn(workspace_id)])
      const target = { ...context, workspace_id }
      const token = await moveSession(tx, target, session_id, user_id)
      recordChange(tx, target, { action: 'entered', kind: 'sessions', record_id: session_id })
      return { record: await current(tx, { ...own, workspace_id }), set_cookie: cookieOf(request, token) }
    },
  )

  session.remove({ id: 'signOut', summary: 'Sign out' }, async (tx, context, { request, expect }) => {
    const own = ownSession(request)
    const before = await signedIn(tx, own, role_scopes, clock.now())
    if (before) expect(before)
    await endSession(tx, context, own.session_id, 'signed_out')
    return { set_cookie: noCookie(request) }
  })
}
