import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Db } from '../../db/db.ts'
import { type FieldProblem, invalid } from '../../errors.ts'
import { auditSides } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import { isInvited } from './invitations.ts'
import { memberByEmail } from './members.ts'
import { auditPerson, workspacesOf } from './memberships.ts'
import { createOwnPassword } from './own-password.ts'
import type { Profile, ProfileBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { ownSession, profileOf } from './session-view.ts'
import { emailKey } from './users.ts'

/** The fields that a person may change. */
export const profile_fields = ['name', 'email', 'time_zone', 'language'] as const

export const passwordNeeded: FieldProblem = {
  field: 'current_password',
  code: 'required',
  message: 'current_password is needed to change the e-mail.',
}
const taken: FieldProblem = {
  field: 'email',
  code: 'taken',
  message: 'email is that of another member of one of your workspaces, or of an open invitation there.',
}

/** The hash of the password that was proven, and the hash of the same password beside the new e-mail. */
type EmailProof = { current_hash: string; password_hash: string }

/** Checks the password for a new e-mail. Null if the e-mail stays, or if no password or a wrong one is given. */
export function createEmailProof({ db, throttle, accounts }: PeopleService) {
  const proven = createOwnPassword(db, throttle)
  return async (request: FastifyRequest, body: Static<typeof ProfileBody>): Promise<EmailProof | null> => {
    const { user_id } = ownSession(request)
    const { email, current_password } = body
    if (email === undefined || typeof current_password !== 'string') return null
    if (email === (await profileOf(db, user_id)).email) return null
    const current_hash = await proven(request, current_password)
    if (!current_hash) return null
    await throttle.countEmailChange(user_id)
    const password_hash = await accounts.hash(email, current_password, { identified: true, key: user_id })
    return { current_hash, password_hash }
  }
}

type ProfileChanges = Partial<Omit<Profile, 'id'>> & { password_hash?: string | undefined }

/**
 * Changes the profile of a person. Throws 422 if another member or an open invitation in one of the person's workspaces has
 * the e-mail. The person is locked, and for a new e-mail the workspaces too.
 */
export async function changeProfile(
  tx: Db,
  context: Context,
  before: Profile,
  { password_hash, ...changes }: ProfileChanges,
): Promise<Profile> {
  const { id } = before
  const { name, email, time_zone, language } = { ...before, ...changes }
  const email_key = emailKey(email)
  const moves = email_key !== emailKey(before.email)
  if (moves && (await isTaken(tx, context.now, id, email))) throw invalid([taken])
  await tx
    .updateTable('users')
    .set({
      name,
      email,
      time_zone,
      language,
      email_key,
      updated_at: context.now,
      ...(password_hash && { password_hash }),
      // A reset link that was sent to the old e-mail must not set the password of the new one.
      ...(moves && { reset_hash: null, reset_expires_at: null }),
    })
    .where('id', '=', id)
    .execute()
  const after = await profileOf(tx, id)
  const changed = changesBetween(before, after, profile_fields)
  if (changed) await auditPerson(tx, context, id, { action: 'updated', ...auditSides(changed, after) })
  return after
}

/** Whether another member or an open invitation in one of the person's workspaces has an e-mail. */
async function isTaken(tx: Db, now: string, user_id: string, email: string): Promise<boolean> {
  for (const { id } of await workspacesOf(tx, user_id)) {
    const member = await memberByEmail(tx, id, email)
    if ((member && member.id !== user_id) || (await isInvited(tx, id, now, email))) return true
  }
  return false
}
