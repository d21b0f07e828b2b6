import type { FastifyRequest } from 'fastify'
import type { Db } from '../../db/db.ts'
import type { FieldProblem } from '../../http/errors.ts'
import { checkPassword } from './passwords.ts'
import { placeOf } from './session-view.ts'
import type { Throttle } from './throttle.ts'
import { findUser } from './users.ts'

export const wrongPassword: FieldProblem = {
  field: 'current_password',
  code: 'wrong',
  message: 'current_password is not your password.',
}

/**
 * Checks the own password of who is signed in, for what a session that was left open must not do. The session's tries are
 * counted. Returns the password's hash, by which a transaction sees that it is still the same, or null for a wrong one.
 */
export function createOwnPassword(db: Db, throttle: Throttle) {
  return async (request: FastifyRequest, password: string): Promise<string | null> => {
    const { session_id, user_id } = placeOf(request)
    const user = await findUser(db, user_id)
    if (!user) return null
    const asker = { shown: true, key: user_id }
    const check = () => checkPassword(password, user.password_hash, asker)
    const right = await throttle.proveOwn(`session ${session_id}`, check)
    return right ? user.password_hash : null
  }
}
