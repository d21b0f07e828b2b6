import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Db, Tx } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { type FieldProblem, invalid, refuse } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { single } from '../../http/envelope.ts'
import { bodyProblems } from '../../http/validation.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { auditPerson } from './memberships.ts'
import { checkPassword, passwordProblems } from './passwords.ts'
import type { PasswordBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { ownSession, profileOf } from './session-view.ts'
import { endSessions } from './sessions.ts'
import type { Throttle } from './throttle.ts'
import { findUser, hasPassword, setPassword } from './users.ts'

export const wrongPassword: FieldProblem = {
  field: 'current_password',
  code: 'wrong',
  message: 'current_password is not your password.',
}

/**
 * Checks the password of the signed-in person, for changes that an unattended session must not make. Counts the failures of
 * the session. Returns the hash of the password, so that a transaction can see a later change; null for a wrong password.
 */
export function createOwnPassword(db: Db, throttle: Throttle) {
  return async (request: FastifyRequest, password: string): Promise<string | null> => {
    const { session_id, user_id } = ownSession(request)
    const user = await findUser(db, user_id)
    if (!user) return null
    const asker = { identified: true, key: user_id }
    const check = () => checkPassword(password, user.password_hash, asker)
    const right = await throttle.proveIdentified(`session ${session_id}`, check)
    return right ? user.password_hash : null
  }
}

/** The hash of the verified password (null for none). The hash of the new one, and its problems. */
type PasswordProof = { current_hash: string | null; new_hash: string; problems: FieldProblem[] }
type Passwords = Static<typeof PasswordBody>

/** Checks the own password and the new one, and hashes the new one. */
export function createPasswordProof({ db, throttle, accounts }: PeopleService) {
  const proven = createOwnPassword(db, throttle)
  return async (request: FastifyRequest & { body: Passwords }): Promise<PasswordProof> => {
    const { user_id } = ownSession(request)
    const { current_password, new_password } = request.body
    const { email } = await profileOf(db, user_id)
    const problems = passwordProblems('new_password', new_password, email)
    const sound = !bodyProblems(request.body).length && !problems.length
    const current_hash = sound ? await proven(request, String(current_password)) : null
    const asker = { identified: true, key: user_id }
    const new_hash = current_hash ? await accounts.hash(email, String(new_password), asker) : ''
    return { current_hash, new_hash, problems }
  }
}

/** Changes the own password, and ends all other sessions. Throws 422 if the current password is wrong. */
export async function changePassword(
  tx: Tx,
  context: Context,
  browsers: KnownBrowsers,
  { request, problems, prepared, recheck }: Incoming<unknown, Passwords, PasswordProof>,
) {
  const { session_id, user_id } = ownSession(request)
  await lockEntry(tx, 'users', user_id)
  await recheck()
  refuse([...problems, ...prepared.problems])
  const { current_hash, new_hash } = prepared
  if (!current_hash || !(await hasPassword(tx, user_id, current_hash))) throw invalid([wrongPassword])
  await setPassword(tx, context.now, user_id, new_hash)
  await endSessions(tx, user_id, { but: session_id })
  await auditPerson(tx, context, user_id, { action: 'password_changed' })
  // This browser becomes known by the new password. All others are unknown now.
  const set_cookie = browsers.cookieFor(request, { id: user_id, password_hash: new_hash })
  return { body: single(await profileOf(tx, user_id)), set_cookie }
}
