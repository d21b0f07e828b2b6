import type { Db } from '../../db/db.ts'
import { countRows } from '../../db/lists/counts.ts'
import type { Listed } from '../../db/lists/lists.ts'
import { formerNames } from '../../events/names.ts'
import type { Access } from '../../http/auth.ts'
import type { Grantor, Role, RoleScopes } from './roles.ts'
import type { Member } from './schema.ts'
import { emailKey } from './users.ts'

const members = (db: Db, workspace_id: number) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .where('m.workspace_id', '=', workspace_id)
const columns = ['u.id', 'u.name', 'u.email', 'm.role', 'm.created_at'] as const
type Stored = Omit<Member, 'former_names'>
const memberOf = (row: Omit<Stored, 'role'> & { role: string }): Stored => ({
  ...row,
  role: row.role as Role,
})

/** One page of the members, newest first, and the total. */
export async function listMembers(
  db: Db,
  workspace_id: number,
  { per_page, offset }: { per_page: number; offset: number },
): Promise<Listed<Stored>> {
  const rows = await members(db, workspace_id)
    .select(columns)
    .orderBy('m.created_at', 'desc')
    .orderBy('u.id', 'desc')
    .limit(per_page)
    .offset(offset)
    .execute()
  return { records: rows.map(memberOf), total: await countRows(members(db, workspace_id)), next: null }
}

/** The members with their former names, but those that they have again. */
export async function withFormerNames(
  db: Db,
  workspace_id: number,
  members: readonly Stored[],
): Promise<Member[]> {
  const names = await formerNames(db, workspace_id)
  return members.map((member) => {
    const former_names = names.get(member.id)?.filter((name) => name !== member.name) ?? []
    return { ...member, former_names }
  })
}

export async function findMember(db: Db, workspace_id: number, user_id: string): Promise<Member | null> {
  const row = await members(db, workspace_id).select(columns).where('u.id', '=', user_id).executeTakeFirst()
  const [member = null] = row ? await withFormerNames(db, workspace_id, [memberOf(row)]) : []
  return member
}

/** The member with an e-mail, by `emailKey`. A workspace has at most one. */
export async function memberByEmail(db: Db, workspace_id: number, email: string): Promise<Stored | null> {
  const named = members(db, workspace_id).where('u.email_key', '=', emailKey(email))
  const row = await named.select(columns).orderBy('u.id').limit(1).executeTakeFirst()
  return row ? memberOf(row) : null
}

export async function isLastOwner(
  db: Db,
  workspace_id: number,
  { id, role }: Pick<Member, 'id' | 'role'>,
): Promise<boolean> {
  if (role !== 'owner') return false
  const other = await members(db, workspace_id)
    .select('u.id')
    .where('m.role', '=', 'owner')
    .where('u.id', '<>', id)
    .limit(1)
    .executeTakeFirst()
  return other === undefined
}

/** The role by which a caller grants and revokes roles. */
export const grantorOf = (role_scopes: RoleScopes, { role, scopes }: Access): Grantor =>
  role === undefined ? role_scopes.grantorOfKey(scopes) : (role as Role)
