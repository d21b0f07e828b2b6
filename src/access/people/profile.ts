import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { readWhole } from '../../db/busy.ts'
import type { Tx } from '../../db/db.ts'
import { lockEntry } from '../../db/locks.ts'
import { type FieldProblem, invalid, refuse } from '../../errors.ts'
import { auditSides } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { changesOf } from '../../http/patch.ts'
import { beginDigests } from '../../mails/digest-days.ts'
import { mergedPreferences, storedPreferences } from '../../mails/preferences.ts'
import { lockAccount } from './deletion.ts'
import { localeProblems, withCanonicalTimeZone } from './fields.ts'
import { isInvited } from './invitations.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { memberByEmail } from './members.ts'
import { auditPerson, workspacesOf } from './memberships.ts'
import { createOwnPassword, wrongPassword } from './own-password.ts'
import type { Profile, ProfileBody } from './schema.ts'
import type { PeopleService } from './service.ts'
import { ownSession, profileOf } from './session-view.ts'
import { emailKey, endResetLinks, hasPassword } from './users.ts'

type Fields = Static<typeof ProfileBody>
/** The fields that a person may change. */
const profile_fields = ['name', 'email', 'time_zone', 'language', 'mail_preferences'] as const

const passwordNeeded: FieldProblem = {
  field: 'current_password',
  code: 'required',
  message: 'current_password is needed to change the e-mail.',
}
const taken: FieldProblem = {
  field: 'email',
  code: 'taken',
  message: 'email belongs to another member or an open invitation of one of your workspaces.',
}

/** The hash of the password that was proven, and the hash of the same password beside the new e-mail. */
type EmailProof = { current_hash: string; password_hash: string }

/** Checks the password for a new e-mail. Null if the e-mail stays, or if no password or a wrong one is given. */
export function createEmailProof({ db, throttle, accounts }: PeopleService) {
  const proven = createOwnPassword(db, throttle)
  return async (request: FastifyRequest & { body: Fields }): Promise<EmailProof | null> => {
    const { user_id } = ownSession(request)
    const { email, current_password } = request.body
    if (email === undefined || typeof current_password !== 'string') return null
    if (email === (await profileOf(db, user_id)).email) return null
    const current_hash = await proven(request, current_password)
    if (!current_hash) return null
    await throttle.countEmailChange(user_id)
    const password_hash = await accounts.hash(email, current_password, { identified: true, key: user_id })
    return { current_hash, password_hash }
  }
}

/**
 * Changes the profile of a person. Throws 422 for a new e-mail without the password. Throws 422, too, if a member or an
 * open invitation of the person's workspaces has the e-mail.
 */
export async function changeProfile(
  tx: Tx,
  context: Context,
  browsers: KnownBrowsers,
  { request, body, problems, prepared: proof, expect, recheck }: Incoming<unknown, Fields, EmailProof | null>,
): Promise<{ record: Profile; set_cookie?: string }> {
  const { user_id } = ownSession(request)
  // A person who concurrently joins one of the workspaces with the new e-mail either waits, or is found.
  if (proof) await lockAccount(tx, user_id)
  else await lockEntry(tx, 'users', user_id)
  await recheck()
  const before = await profileOf(tx, user_id)
  expect(before)
  const changes = changesOf(withPreferences(withCanonicalTimeZone(body), before), before, profile_fields)
  const proven = proof !== null && (await hasPassword(tx, user_id, proof.current_hash))
  const unproven = body.current_password === undefined ? passwordNeeded : wrongPassword
  const of_email = changes.email !== undefined && !proven ? [unproven] : []
  refuse([...problems, ...localeProblems(changes), ...of_email])
  if (!Object.keys(changes).length) return { record: before }
  const password_hash = changes.email === undefined ? undefined : proof?.password_hash
  const record = await updateProfile(tx, context, before, { ...changes, password_hash })
  if (!password_hash) return { record }
  return { record, set_cookie: browsers.cookieFor(request, { id: user_id, password_hash }) }
}

/** The body with all preferences: those that are sent in place of the present ones, null for the default. */
function withPreferences({ mail_preferences: sent, ...body }: Fields, before: Profile) {
  if (typeof sent !== 'object' || sent === null) return body
  return { ...body, mail_preferences: mergedPreferences(before.mail_preferences, sent) }
}

type ProfileChanges = Partial<Omit<Profile, 'id'>> & { password_hash?: string | undefined }

async function updateProfile(
  tx: Tx,
  context: Context,
  before: Profile,
  { password_hash, ...changes }: ProfileChanges,
): Promise<Profile> {
  const { id } = before
  const { name, email, time_zone, language, mail_preferences } = { ...before, ...changes }
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
      mail_preferences: storedPreferences(mail_preferences),
      updated_at: context.now,
      ...(password_hash && { password_hash }),
      // A reset link that was sent to the old e-mail must not set the password of the new one.
      ...(moves && { reset_hash: null, reset_expires_at: null }),
    })
    .where('id', '=', id)
    .execute()
  if (moves) await endResetLinks(tx, id)
  if (moves || time_zone !== before.time_zone) await readWhole(tx, id, context.elapsed())
  await beginDigests(tx, id, { before, after: { time_zone, mail_preferences } }, context.now_ms)
  const after = await profileOf(tx, id)
  const changed = changesBetween(before, after, profile_fields)
  if (changed) await auditPerson(tx, context, id, { action: 'updated', ...auditSides(changed, after) })
  return after
}

/** Whether another member or an open invitation in one of the person's workspaces has an e-mail. */
async function isTaken(tx: Tx, now: string, user_id: string, email: string): Promise<boolean> {
  for (const { id } of await workspacesOf(tx, user_id)) {
    const member = await memberByEmail(tx, id, email)
    if ((member && member.id !== user_id) || (await isInvited(tx, id, now, email))) return true
  }
  return false
}
