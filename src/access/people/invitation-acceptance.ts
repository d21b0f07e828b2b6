import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { type Clock, isoTime } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { conflict, type FieldProblem, invalid, refuse } from '../../errors.ts'
import { auditSnapshot, recordChange } from '../../events/audit.ts'
import { bodyProblems } from '../../http/validation.ts'
import { cancelMails } from '../../mails/cancel.ts'
import { addressOf } from './cookie.ts'
import { localeProblems, withCanonicalTimeZone } from './fields.ts'
import { invitationByHash } from './invitations.ts'
import { insertMember, roleOf } from './memberships.ts'
import { passwordProblems } from './passwords.ts'
import type { AcceptBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { type MemberRef, personContext } from './sign-in.ts'
import { badToken, hashOf } from './tokens.ts'
import { hasAccount, hasPassword, insertUser } from './users.ts'

const wrong: FieldProblem = {
  field: 'password',
  code: 'wrong',
  message:
    'password does not match an account with this e-mail. Send new_account: true to create your own account.',
}

/** An invitation that can be accepted, with the hash of its token. */
type OpenInvitation = NonNullable<Awaited<ReturnType<typeof invitationByHash>>> & { hash: string }

/** Finds the invitation of a token. Failures are counted for each address; 422 unless the invitation can be accepted. */
export function createLinkReader({ clock, throttle }: PeopleService) {
  return async (request: FastifyRequest, token: unknown): Promise<OpenInvitation> => {
    const hash = hashOf(token)
    const found = await throttle.checkLink(addressOf(request), (tx) => invitationByHash(tx, clock, hash))
    if (!found?.open) throw badToken()
    return { ...found, hash }
  }
}

/** The person who accepts. `resolveUser` returns the account's id; `made` holds the fields of a new account, or null. */
type AcceptingPerson = { resolveUser: (tx: Tx, now: string) => Promise<string>; made: object | null }

/**
 * Makes the person a member of the workspace, with the invited role. Throws 422 if the invitation or the password is no
 * longer valid, and 409 for a member.
 */
export async function acceptInvitation(
  tx: Tx,
  { clock, request_id }: { clock: Clock; request_id: string },
  { id, workspace_id, role, hash }: OpenInvitation,
  person: AcceptingPerson,
): Promise<MemberRef> {
  // A concurrent invitation of the same e-mail either revoked this one, or waits and finds the member.
  await lockEntry(tx, 'workspaces', workspace_id)
  await lockEntry(tx, 'invitations', id)
  if (!(await invitationByHash(tx, clock, hash))?.open) throw badToken()
  const now = isoTime(clock.now())
  const user_id = await person.resolveUser(tx, now)
  const member = { workspace_id, user_id }
  const context = personContext(clock, member, request_id)
  if (await roleOf(tx, workspace_id, user_id))
    throw conflict('member_already', 'You are a member of this workspace already.')
  if (person.made)
    recordChange(tx, context, {
      action: 'created',
      kind: 'users',
      record_id: user_id,
      after: auditSnapshot(person.made),
    })
  await tx.updateTable('invitations').set({ accepted_at: now }).where('id', '=', id).execute()
  recordChange(tx, context, { action: 'accepted', kind: 'invitations', record_id: id })
  await cancelMails(tx, context, { kind: 'invitations', id }, 'The invitation was accepted.')
  await insertMember(tx, context, user_id, role)
  return member
}

type AcceptRequest = FastifyRequest & { body: Static<typeof AcceptBody> }

/**
 * Finds out who accepts: the account with the password, or a new account. An e-mail can have several accounts, so the
 * invited person may always make a new one.
 */
export function createAcceptingPerson({ db, accounts, authenticate }: PeopleService) {
  async function withAccount(request: AcceptRequest, email: string): Promise<AcceptingPerson> {
    const user = await authenticate(request, email, request.body.password ?? '')
    if (!user) throw invalid([wrong])
    const { id, password_hash } = user
    async function resolveUser(tx: Tx): Promise<string> {
      // A concurrent change of the password either waits for this lock, or is found here.
      await lockEntry(tx, 'users', id)
      if (!(await hasPassword(tx, id, password_hash))) throw invalid([wrong])
      return id
    }
    return { resolveUser, made: null }
  }

  async function withNewAccount(
    body: AcceptRequest['body'],
    email: string,
    hash: string,
  ): Promise<AcceptingPerson> {
    const { name = '', password = '', language = null } = body
    const { time_zone = null } = withCanonicalTimeZone(body)
    const made = { name, email, time_zone, language }
    const password_hash = await accounts.hash(email, password, { identified: true, key: hash })
    return { resolveUser: (tx, now) => insertUser(tx, now, { ...made, password_hash }), made }
  }

  return async (request: AcceptRequest, { email, hash }: OpenInvitation): Promise<AcceptingPerson> => {
    const { name, password, new_account } = request.body
    const existing = new_account !== true && (await hasAccount(db, email))
    const problems = [...bodyProblems(request.body), ...localeProblems(request.body)]
    if (!existing) {
      problems.push(...passwordProblems('password', password, email))
      if (name === undefined) problems.push({ field: 'name', code: 'required', message: 'name is required.' })
    }
    refuse(problems)
    return existing ? withAccount(request, email) : withNewAccount(request.body, email, hash)
  }
}
