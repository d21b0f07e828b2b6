import type { Static } from 'typebox'
import { type Clock, day_ms, isoTime } from '../../clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { type Listed, newestRows, type Page } from '../../db/lists/lists.ts'
import { lockEntry } from '../../db/locks.ts'
import { ApiError, type FieldProblem, forbidden, invalid, orNotFound, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { cancelMails } from '../../mails/cancel.ts'
import { invitationMail } from '../../mails/messages.ts'
import { writeMail } from '../../mails/outbox.ts'
import { languageOf } from '../../mails/texts.ts'
import { findWorkspace } from '../workspaces.ts'
import { grantorOf, memberByEmail } from './members.ts'
import { type Grantor, mayGrant, type Role, type RoleScopes } from './roles.ts'
import type { Invitation, InvitationBody, InvitationParams } from './schema.ts'
import { newToken } from './tokens.ts'
import { emailKey, findUser } from './users.ts'

const valid_ms = 7 * day_ms
/** For each workspace, and for each person in all workspaces. Accepted and revoked invitations count. */
const max_invitations_per_day = 100
const columns = ['id', 'email', 'role', 'created_at', 'expires_at'] as const
const invitationOf = (row: Omit<Invitation, 'role'> & { role: string }): Invitation => ({
  ...row,
  role: row.role as Role,
})

/** Invitations of a workspace that can still be accepted. */
const openInvitations = (db: Db, workspace_id: number, now: string) =>
  db
    .selectFrom('invitations')
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where('workspace_id', '=', workspace_id)

/** One page of the open invitations, newest first. */
export async function listInvitations(
  db: Db,
  workspace_id: number,
  now: string,
  page: Page,
): Promise<Listed<Invitation>> {
  const open = openInvitations(db, workspace_id, now).select(columns)
  const { records, ...found } = await newestRows(open, 'id', page)
  return { records: records.map(invitationOf), ...found }
}

export async function findInvitation(
  db: Db,
  workspace_id: number,
  now: string,
  id: string,
): Promise<Invitation | null> {
  const row = await openInvitations(db, workspace_id, now)
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ? invitationOf(row) : null
}

/** Whether a workspace has an open invitation for an e-mail. */
export async function isInvited(db: Db, workspace_id: number, now: string, email: string): Promise<boolean> {
  const rows = await openInvitations(db, workspace_id, now).select('email').execute()
  return rows.some((row) => emailKey(row.email) === emailKey(email))
}

/** Throws 429 if the context's workspace or actor has invited as many people in 24 h as they may. */
async function refuseMorePerDay(tx: Tx, { workspace_id, actor, now_ms }: Context): Promise<void> {
  const waitOf = async (column: 'workspace_id' | 'invited_by', value: number | string) => {
    const row = await tx
      .selectFrom('invitations')
      .select('created_at')
      .where(column, '=', value)
      .where('created_at', '>', isoTime(now_ms - day_ms))
      .orderBy('id', 'desc')
      .limit(1)
      .offset(max_invitations_per_day - 1)
      .executeTakeFirst()
    return row ? Date.parse(row.created_at) + day_ms - now_ms : 0
  }
  const wait_ms = Math.max(
    await waitOf('workspace_id', workspace_id),
    actor.id === null ? 0 : await waitOf('invited_by', actor.id),
  )
  if (!wait_ms) return
  const message = `A workspace or a person can invite at most ${max_invitations_per_day} people a day.`
  const headers = { 'retry-after': String(Math.ceil(wait_ms / 1000)) }
  throw new ApiError('rate_limited', message, { headers })
}

const taken: FieldProblem = {
  field: 'email',
  code: 'taken',
  message: 'email belongs to a member.',
}

/** A new invitation. `until` is the latest expiry, that of the key which invites. `grantor` is the role that invites. */
type NewInvitation = { email: string; role: Role; until?: string | null; grantor: Grantor }

// Throws 403 if the invited role may do more than the caller who revokes the invitation.
function refuseToRevoke(grantor: Grantor, { email, role }: Invitation): void {
  if (!mayGrant(grantor, role))
    throw forbidden(
      `${email} is invited as ${role}, which may do more than you. Ask somebody who has this role.`,
    )
}

/**
 * Invites a person to the context's workspace, and revokes earlier invitations of the e-mail. Throws 422 for a member,
 * and 429 above the limit per day. The limit stops callers from testing many e-mails for accounts. Only the hash of the
 * token is stored. The workspace is locked.
 */
export async function inviteAnew(
  tx: Tx,
  context: Context,
  invited: NewInvitation,
): Promise<{ invitation: Invitation; token: string }> {
  const { workspace_id, now } = context
  if (await memberByEmail(tx, workspace_id, invited.email)) throw invalid([taken])
  await refuseMorePerDay(tx, context)
  for (const before of await openInvitations(tx, workspace_id, now).select(columns).execute())
    if (emailKey(before.email) === emailKey(invited.email)) {
      refuseToRevoke(invited.grantor, invitationOf(before))
      await revokeInvitation(tx, context, invitationOf(before))
    }
  return insertInvitation(tx, context, invited)
}

/**
 * Invites a person by a request. The link begins with `public_url`, if there is one. Throws 403 for a role that may do more
 * than the caller.
 */
export async function invite(
  tx: Tx,
  context: Context,
  { role_scopes, public_url }: { role_scopes: RoleScopes; public_url: string | null },
  { body, problems, recheck }: Incoming<unknown, Static<typeof InvitationBody>>,
) {
  await lockEntry(tx, 'workspaces', context.workspace_id)
  const access = await recheck()
  refuse(problems)
  const { email = '', role = 'member', send_mail = true } = body
  const grantor = grantorOf(role_scopes, access)
  if (!mayGrant(grantor, role)) throw forbidden(`You may not grant the role ${role}.`)
  // An invitation by a key ends with the key, also when the key expires.
  const until = access.actor.kind === 'key' ? access.expires_at : null
  const { invitation, token } = await inviteAnew(tx, context, { email, role, until, grantor })
  const url_path = `/invitation#${token}`
  const url = public_url === null ? {} : { url: public_url + url_path }
  const mail_id = send_mail ? await mailInvitation(tx, context, invitation, token) : null
  return { record: invitation, shown: { ...invitation, url_path, ...url, mail_id } }
}

/** Writes the mail of an invitation, in the language of the inviting person. Returns its id. */
async function mailInvitation(
  tx: Tx,
  context: Context,
  { id, email, role, expires_at }: Invitation,
  token: string,
): Promise<string | null> {
  const { actor, workspace_id } = context
  const person = actor.kind === 'person' && actor.id ? await findUser(tx, actor.id) : undefined
  const { name: workspace } = await findWorkspace(tx, workspace_id)
  const language = languageOf(person?.language)
  const reader = { language, zone: person?.time_zone ?? null }
  const invited = { person: person?.name ?? null, workspace, role, expires_at }
  return writeMail(tx, context, {
    kind: 'invitation',
    recipient: email,
    record: { kind: 'invitations', id },
    language,
    content: (base) => invitationMail(reader, base, invited),
    tokens: [token],
    useless_at: expires_at,
  })
}

/** Revokes an open invitation. Throws 403 if its role may do more than the caller. */
export async function takeBack(
  tx: Tx,
  context: Context,
  role_scopes: RoleScopes,
  { params: { invitation_id }, expect, recheck }: Incoming<Static<typeof InvitationParams>>,
): Promise<void> {
  await lockEntry(tx, 'invitations', invitation_id)
  const found = await findInvitation(tx, context.workspace_id, context.now, invitation_id)
  const before = orNotFound('invitation', found)
  expect(before)
  refuseToRevoke(grantorOf(role_scopes, await recheck()), before)
  await revokeInvitation(tx, context, before)
}

async function insertInvitation(
  tx: Tx,
  context: Context,
  { email, role, until = null }: NewInvitation,
): Promise<{ invitation: Invitation; token: string }> {
  const { workspace_id, actor, now, now_ms } = context
  const id = newId('inv')
  const { token, hash } = newToken()
  const usual = isoTime(now_ms + valid_ms)
  const expires_at = until !== null && until < usual ? until : usual
  const invitation = { id, email, role, created_at: now, expires_at }
  await tx
    .insertInto('invitations')
    .values({
      ...invitation,
      workspace_id,
      hash,
      invited_by: actor.id ?? actor.kind,
      accepted_at: null,
      revoked_at: null,
    })
    .execute()
  recordChange(tx, context, {
    action: 'created',
    kind: 'invitations',
    record_id: id,
    after: { email, role },
  })
  return { invitation, token }
}

/** Revokes an invitation. A no-op if it was accepted or revoked concurrently. */
async function revokeInvitation(tx: Tx, context: Context, { id, email, role }: Invitation): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('invitations')
    .set({ revoked_at: context.now })
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (!numUpdatedRows) return
  await cancelMails(tx, context, { kind: 'invitations', id }, 'The invitation was revoked.')
  recordChange(tx, context, {
    action: 'revoked',
    kind: 'invitations',
    record_id: id,
    before: { email, role },
  })
}

/** Revokes the invitations by a person or a key that the new role may not make. Null is a person who has left. */
export async function revokeInvitationsBy(
  tx: Tx,
  context: Context,
  id: string,
  role: Role | null,
): Promise<void> {
  const rows = await openInvitations(tx, context.workspace_id, context.now)
    .select(columns)
    .where('invited_by', '=', id)
    .execute()
  const may = role === 'owner' || role === 'admin'
  for (const invitation of rows.map(invitationOf))
    if (!may || !mayGrant(role, invitation.role)) await revokeInvitation(tx, context, invitation)
}

/** An invitation by the hash of its token, with its workspace's name and whether it can still be accepted. */
export async function invitationByHash(db: Db, clock: Clock, hash: string) {
  const row = await db
    .selectFrom('invitations as i')
    .innerJoin('workspaces as w', 'w.id', 'i.workspace_id')
    .select(['i.id', 'i.workspace_id', 'i.email', 'i.role', 'w.name as workspace_name'])
    .select(['i.accepted_at', 'i.revoked_at', 'i.expires_at'])
    .where('i.hash', '=', hash)
    .executeTakeFirst()
  if (!row) return null
  const { accepted_at, revoked_at, expires_at, ...invitation } = row
  const open = accepted_at === null && revoked_at === null && expires_at > isoTime(clock.now())
  return { ...invitation, role: row.role as Role, open }
}
