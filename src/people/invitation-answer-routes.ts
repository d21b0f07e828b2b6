import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { lockEntry } from '../db/locks.ts'
import { factsOf, recordChange } from '../events/audit.ts'
import { Single, single } from '../http/envelope.ts'
import { blaming, conflict, type FieldProblem, invalid } from '../http/errors.ts'
import type { App } from '../http/server.ts'
import { bodyProblems } from '../http/validation.ts'
import { addressOf, atOpenDoor } from './cookie.ts'
import { placed, placeProblems } from './fields.ts'
import { invitationByHash } from './invitations.ts'
import { insertMember, roleOf } from './memberships.ts'
import { personContext, type SignIn } from './open.ts'
import { checkPassword, hashPassword, passwordProblems } from './passwords.ts'
import { AcceptBody, Invited, LookUpBody, SignedIn } from './schema.ts'
import type { Throttle } from './throttle.ts'
import { badToken, hashOf } from './tokens.ts'
import { findUser, insertUser, userByEmail } from './users.ts'

const path = '/api/v1/invitations'
const wrong: FieldProblem = {
  ...{ field: 'password', code: 'wrong' },
  message: 'password is not the one of your account.',
}
const taken: FieldProblem = {
  ...{ field: 'email', code: 'taken' },
  message: 'email has just got an account. Try again with its password.',
}

type Deps = { db: Db; clock: Clock; throttle: Throttle; signIn: SignIn }

/** What whoever got an invitation's link does with it: looks at it, and accepts it once. */
export function invitationAnswerRoutes(app: App, { db, clock, throttle, signIn }: Deps): void {
  app.post(
    `${path}/look-up`,
    {
      onRequest: atOpenDoor,
      schema: {
        'x-extension': true,
        summary: 'Read an invitation by the token of its link',
        body: LookUpBody,
        response: { 200: Single(Invited) },
      },
    },
    async (request) => {
      const hash = hashOf(request.body.token)
      const invitation = await throttle.openLink(addressOf(request), (tx) =>
        invitationByHash(tx, clock, hash),
      )
      if (!invitation?.open) throw badToken()
      const problems = bodyProblems(request.body)
      if (problems.length) throw invalid(problems)
      const { workspace_name, email, role } = invitation
      return single({ workspace_name, email, role, has_account: Boolean(await userByEmail(db, email)) })
    },
  )

  app.post(
    `${path}/accept`,
    {
      onRequest: atOpenDoor,
      schema: {
        ...{ 'x-extension': true, 'x-conflict': true },
        summary:
          'Accept an invitation: with a new account, or with the password of the one that this e-mail has',
        body: AcceptBody,
        response: { 200: Single(SignedIn) },
      },
    },
    async (request, reply) => {
      const { token, name, password = '', language = null } = request.body
      const { time_zone = null } = placed(request.body)
      const hash = hashOf(token)
      const address = addressOf(request)
      const invitation = await throttle.openLink(address, (tx) => invitationByHash(tx, clock, hash))
      if (!invitation?.open) throw badToken()
      const { id, workspace_id, email, role } = invitation
      const asker = { shown: true, key: hash }
      const known = await userByEmail(db, email)
      const problems = [...bodyProblems(request.body), ...placeProblems(request.body)]
      if (!known) {
        problems.push(...passwordProblems('password', request.body.password, email))
        if (name === undefined)
          problems.push({ field: 'name', code: 'required', message: 'name is required.' })
      }
      if (problems.length) throw invalid(problems)
      if (known) {
        // A try of the password of an account that exists.
        const check = () => checkPassword(password, known.password_hash, asker)
        if (!(await throttle.prove({ address, email }, check))) throw invalid([wrong])
      }
      const password_hash = known ? known.password_hash : await hashPassword(password, asker)

      return signIn(request, reply, async (tx) => {
        await lockEntry(tx, 'invitations', id)
        if (!(await invitationByHash(tx, clock, hash))?.open) throw badToken()
        // A change of the password waits for this, or is seen below.
        if (known) await lockEntry(tx, 'users', known.id)
        const now = isoTime(clock.now())
        const user = { name: name ?? '', email, time_zone, language }
        const user_id =
          known?.id ??
          (await blaming('users_email_key', taken, () => insertUser(tx, now, { ...user, password_hash })))
        const entering = { workspace_id, user_id }
        const context = personContext(clock, entering, request.id)
        if (known && (await findUser(tx, known.id))?.password_hash !== known.password_hash)
          throw invalid([wrong])
        if (await roleOf(tx, workspace_id, user_id))
          throw conflict('You are a member of this workspace already.')
        if (!known)
          await recordChange(tx, context, {
            ...{ action: 'created', kind: 'users', record_id: user_id },
            after: factsOf(user),
          })
        await tx.updateTable('invitations').set({ accepted_at: now }).where('id', '=', id).execute()
        await recordChange(tx, context, { action: 'accepted', kind: 'invitations', record_id: id })
        await insertMember(tx, context, user_id, role)
        return entering
      })
    },
  )
}
