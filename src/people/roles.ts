/** What a person may be in a workspace, the mightiest first. */
export const roles = ['owner', 'admin', 'member', 'read_only'] as const
export type Role = (typeof roles)[number]

const records = [
  'contacts',
  'companies',
  'deals',
  'activities',
  'appointments',
  'booking_pages',
  'trash',
  'views',
]
const read_only = [
  ...records.map((name) => `${name}:read`),
  ...['events:read', 'reports:read', 'members:read', 'workspace:read'],
]
const member = [...read_only, ...records.map((name) => `${name}:write`)]

const granted: Record<Role, readonly string[] | null> = { owner: null, admin: null, member, read_only }

/** The scopes of a role; null: all of them. */
export function scopesOf(role: Role): string[] | null {
  const scopes = granted[role]
  return scopes && [...scopes]
}

/** Who gives or takes a role: a person by the own role, or a key by its scopes (null: all). */
export type Grantor = { role: Role } | { scopes: readonly string[] | null }

/** Whether somebody may give a role: only owners make owners, a key is an admin at most, and nobody gives what he lacks. */
export function mayGive(grantor: Grantor, role: Role): boolean {
  if (role === 'owner') return 'role' in grantor && grantor.role === 'owner'
  const own = 'role' in grantor ? granted[grantor.role] : grantor.scopes
  if (own === null) return true
  return granted[role]?.every((scope) => own.includes(scope)) ?? false
}

/** Whether somebody who may write members may change or remove one of this role: owners are for owners alone. */
export const mayChange = (grantor: Grantor, role: Role): boolean =>
  role !== 'owner' || ('role' in grantor && grantor.role === 'owner')
