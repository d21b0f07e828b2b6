import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { factsOf, recordChange } from '../../events/audit.ts'
import { Single, single } from '../../http/envelope.ts'
import { conflict, type FieldProblem, invalid } from '../../http/errors.ts'
import type { App } from '../../http/server.ts'
import { bodyProblems } from '../../http/validation.ts'
import { addressOf, atOpenDoor } from './cookie.ts'
import { placed, placeProblems } from './fields.ts'
import { invitationByHash } from './invitations.ts'
import { insertMember, roleOf } from './memberships.ts'
import { passwordProblems } from './passwords.ts'
import { AcceptBody, Invited, LookUpBody, SignedIn } from './schema.ts'
import type { PeopleService } from './service.ts'
import { personContext } from './sign-in.ts'
import { badToken, hashOf } from './tokens.ts'
import { findUser, hasAccount, insertUser } from './users.ts'

const path = '/api/v1/invitations'
const wrong: FieldProblem = {
  field: 'password',
  code: 'wrong',
  message:
    'password is not that of an account with this e-mail. Send new_account: true to make an account of your own.',
}

/** What whoever got an invitation's link does with it: looks at it, and accepts it once. */
export function invitationAcceptanceRoutes(app: App, service: PeopleService): void {
  const { db, clock, throttle, signIn } = service
  const acceptedBy = createAcceptance(service)

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
      return single({ workspace_name, email, role, has_account: await hasAccount(db, email) })
    },
  )

  app.post(
    `${path}/accept`,
    {
      onRequest: atOpenDoor,
      schema: {
        ...{ 'x-extension': true, 'x-conflict': true },
        summary:
          'Accept an invitation: with the password of an account with this e-mail, or with a new account',
        body: AcceptBody,
        response: { 200: Single(SignedIn) },
      },
    },
    async (request, reply) => {
      const hash = hashOf(request.body.token)
      const invitation = await throttle.openLink(addressOf(request), (tx) =>
        invitationByHash(tx, clock, hash),
      )
      if (!invitation?.open) throw badToken()
      const { id, workspace_id, email, role } = invitation
      const person = await acceptedBy(request, email, hash)

      return signIn(request, reply, async (tx) => {
        await lockEntry(tx, 'invitations', id)
        if (!(await invitationByHash(tx, clock, hash))?.open) throw badToken()
        const now = isoTime(clock.now())
        const user_id = await person.enter(tx, now)
        const entering = { workspace_id, user_id }
        const context = personContext(clock, entering, request.id)
        if (await roleOf(tx, workspace_id, user_id))
          throw conflict('You are a member of this workspace already.')
        if (person.made)
          await recordChange(tx, context, {
            action: 'created',
            kind: 'users',
            record_id: user_id,
            after: factsOf(person.made),
          })
        await tx.updateTable('invitations').set({ accepted_at: now }).where('id', '=', id).execute()
        await recordChange(tx, context, { action: 'accepted', kind: 'invitations', record_id: id })
        await insertMember(tx, context, user_id, role)
        return entering
      })
    },
  )
}

type AcceptRequest = FastifyRequest & { body: Static<typeof AcceptBody> }

/** Who accepts: `enter` returns the account's id in the transaction; `made` are the facts of a new account. */
type Person = { enter: (tx: Db, now: string) => Promise<string>; made: object | null }

/**
 * Finds out who accepts an invitation: the account that the password is of, or a new one. An e-mail belongs to nobody: who
 * holds the invitation makes an account with a password of their own, whoever has one with the same e-mail.
 */
function createAcceptance({ db, accounts, authenticate }: PeopleService) {
  async function withAccount(request: AcceptRequest, email: string): Promise<Person> {
    const user = await authenticate(request, email, request.body.password ?? '')
    if (!user) throw invalid([wrong])
    async function enter(tx: Db): Promise<string> {
      // A change of the password waits for this, or is seen here.
      await lockEntry(tx, 'users', String(user?.id))
      if ((await findUser(tx, String(user?.id)))?.password_hash !== user?.password_hash)
        throw invalid([wrong])
      return String(user?.id)
    }
    return { enter, made: null }
  }

  async function withNewAccount({ body }: AcceptRequest, email: string, hash: string): Promise<Person> {
    const { name = '', password = '', language = null } = body
    const { time_zone = null } = placed(body)
    const made = { name, email, time_zone, language }
    const password_hash = await accounts.hash(email, password, { shown: true, key: hash })
    return { enter: (tx, now) => insertUser(tx, now, { ...made, password_hash }), made }
  }

  return async (request: AcceptRequest, email: string, hash: string): Promise<Person> => {
    const { name, password, new_account } = request.body
    const existing = new_account !== true && (await hasAccount(db, email))
    const problems = [...bodyProblems(request.body), ...placeProblems(request.body)]
    if (!existing) {
      problems.push(...passwordProblems('password', password, email))
      if (name === undefined) problems.push({ field: 'name', code: 'required', message: 'name is required.' })
    }
    if (problems.length) throw invalid(problems)
    return existing ? withAccount(request, email) : withNewAccount(request, email, hash)
  }
}
