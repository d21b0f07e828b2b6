/** What a person may be in a workspace, the mightiest first. */
export const roles = ['owner', 'admin', 'member', 'read_only'] as const
export type Role = (typeof roles)[number]

/** The scopes of the roles in a service. */
export type RoleScopes = ReturnType<typeof createRoleScopes>

/** The scopes of the roles. `records` are the first parts of the resources' scopes, `all` is every scope of the service. */
export function createRoleScopes(records: readonly string[], all: readonly string[]) {
  const written = [...records, 'trash', 'views']
  const read_only = [
    ...written.map((name) => `${name}:read`),
    ...['events:read', 'reports:read', 'members:read', 'workspace:read'],
  ]
  const member = [...read_only, ...written.map((name) => `${name}:write`)]
  const granted: Record<Role, readonly string[] | null> = { owner: null, admin: null, member, read_only }

  /** The scopes of a role; null: all of them, with those of later versions. */
  const of = (role: Role): string[] | null => {
    const scopes = granted[role]
    return scopes && [...scopes]
  }
  return {
    of,
    /** The same, with all of them by name. */
    named: (role: Role): string[] => of(role) ?? [...all],
    /** By what a key gives and takes roles: it is an admin at most, and gives no scope that it lacks. */
    grantorOfKey(scopes: readonly string[] | null): Grantor {
      if (scopes === null) return 'admin'
      return roles.find((role) => granted[role]?.every((scope) => scopes.includes(scope))) ?? null
    },
  }
}

/** Who gives or takes a role: the mightiest role that they may give; null: none. */
export type Grantor = Role | null

/**
 * Whether somebody may give a role, or change, remove or take back who has it: nobody gives more than their own role
 * (contract: keys, limits, safety).
 */
export const mayGrant = (grantor: Grantor, role: Role): boolean =>
  grantor !== null && roles.indexOf(role) >= roles.indexOf(grantor)
