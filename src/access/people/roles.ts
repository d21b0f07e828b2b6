/** The roles of people in a workspace. Each role may do more than the next one. */
export const roles = ['owner', 'admin', 'member', 'read_only'] as const
export type Role = (typeof roles)[number]

/** The scopes of the roles in a service. */
export type RoleScopes = ReturnType<typeof createRoleScopes>

/** The scopes of the roles. `records` are the first parts of the resources' scopes, `all` is every scope of the service. */
export function createRoleScopes(records: readonly string[], all: readonly string[]) {
  const written = [...records, 'trash', 'views', 'imports']
  const read_only = [
    ...written.map((name) => `${name}:read`),
    'events:read',
    'reports:read',
    'members:read',
    'workspace:read',
  ]
  const member = [...read_only, ...written.map((name) => `${name}:write`)]
  const granted: Record<Role, readonly string[] | null> = { owner: null, admin: null, member, read_only }

  /** The scopes of a role. Null means all scopes, also those of later versions. */
  const of = (role: Role): string[] | null => {
    const scopes = granted[role]
    return scopes && [...scopes]
  }
  return {
    of,
    /** The names of the scopes of a role. */
    named: (role: Role): string[] => of(role) ?? [...all],
    /** The role by which a key grants roles: at most admin, and never a scope that the key lacks. */
    grantorOfKey(scopes: readonly string[] | null): Grantor {
      if (scopes === null) return 'admin'
      return roles.find((role) => granted[role]?.every((scope) => scopes.includes(scope))) ?? null
    },
  }
}

/** The highest role that a caller may grant or revoke. Null means none. */
export type Grantor = Role | null

/**
 * Whether a caller may grant a role, and change or remove its members and invitations. A caller cannot grant more than
 * their own role (contract: keys, limits, safety).
 */
export const mayGrant = (grantor: Grantor, role: Role): boolean =>
  grantor !== null && roles.indexOf(role) >= roles.indexOf(grantor)
