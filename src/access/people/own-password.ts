import type { FastifyRequest } from 'fastify'
import type { Db } from '../../db/db.ts'
import type { FieldProblem } from '../../errors.ts'
import { checkPassword } from './passwords.ts'
import { ownSession } from './session-view.ts'
import type { Throttle } from './throttle.ts'
import { findUser } from './users.ts'

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
