import { type Clock, isoTime } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { lockInstallation } from '../../db/locks.ts'
import { conflict } from '../../errors.ts'
import { auditSnapshot, recordChange } from '../../events/audit.ts'
import { service } from '../../events/context.ts'
import { changeWorkspace, firstWorkspace, listWorkspaces } from '../workspaces.ts'
import { insertMember } from './memberships.ts'
import { isSetupHash, removeSetupToken } from './setup.ts'
import { type MemberRef, personContext } from './sign-in.ts'
import { badToken } from './tokens.ts'
import { anyUser, insertUser } from './users.ts'

export const setUpAlready = () =>
  conflict('set_up_already', 'Somebody has an account already. Sign in, or ask for an invitation.')

type FirstAccount = {
  person: { name: string; email: string; time_zone: string | null; language: string | null }
  password_hash: string
  workspace: { name: string; currency?: string | undefined }
}

/**
 * Makes the first account, as the owner of the first workspace. `hash` is that of the token of the setup link. Throws 409
 * if somebody has an account, and 422 if the token was replaced.
 */
export async function createFirstAccount(
  tx: Tx,
  { clock, request_id, hash }: { clock: Clock; request_id: string; hash: string },
  { person, password_hash, workspace }: FirstAccount,
): Promise<MemberRef> {
  // Two concurrent requests: the second one waits here, and is refused.
  await lockInstallation(tx)
  if (await anyUser(tx)) throw setUpAlready()
  if (!(await isSetupHash(tx, hash))) throw badToken()
  await removeSetupToken(tx)
  // A start makes the workspace together with the first key.
  const made = await firstWorkspace(tx, clock, service)
  const workspace_id = made ?? (await listWorkspaces(tx))[0]?.id ?? 0
  const user_id = await insertUser(tx, isoTime(clock.now()), { ...person, password_hash })
  const member = { workspace_id, user_id }
  const context = personContext(clock, member, request_id)
  recordChange(tx, context, {
    action: 'created',
    kind: 'users',
    record_id: user_id,
    after: auditSnapshot(person),
  })
  await changeWorkspace(tx, context, workspace)
  await insertMember(tx, context, user_id, 'owner')
  return member
}
