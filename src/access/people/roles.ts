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

/**
 * Whether somebody may give a role, or change, remove or take back who has it: owners are for owners alone, a key is an
 * admin at most, and the role has no scope that the grantor lacks (contract: keys, limits, safety).
 */
export function mayGrant(grantor: Grantor, role: Role): boolean {
  if (role === 'owner') return 'role' in grantor && grantor.role === 'owner'
  const own = 'role' in grantor ? granted[grantor.role] : grantor.scopes
  if (own === null) return true
  return granted[role]?.every((scope) => own.includes(scope)) ?? false
}
