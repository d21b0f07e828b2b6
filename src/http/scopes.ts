import { forbidden } from '../errors.ts'
import { eventPrefix, type Resource } from '../resources/resource.ts'

/** The scopes of a caller. Null means all scopes, also those of later versions. */
export type Scopes = readonly string[] | null

// Kinds of the audit log that are not resources, and the scope whose routes show them.
const other_kinds: Record<string, string> = {
  webhooks: 'webhooks:read',
  deliveries: 'webhooks:read',
  api_keys: 'keys:read',
  views: 'views:read',
  custom_fields: 'workspace:read',
  imports: 'imports:read',
  mails: 'mails:read',
  workspaces: 'workspace:read',
  // Only managers of members may see invitations and sign-ins.
  users: 'members:write',
  members: 'members:read',
  invitations: 'members:write',
  sessions: 'members:write',
}

/**
 * Whether a caller with the scopes `own` may grant, change or revoke a right with the scopes `others` (contract: keys,
 * limits, safety). A list of all scopes does not cover null.
 */
export function covers(own: Scopes, others: Scopes): boolean {
  if (own === null) return true
  return others?.every((scope) => own.includes(scope)) ?? false
}

/** Which kinds of records, and which events, a caller may read. */
export type ReadRights = ReturnType<typeof createReadRights>

/** The rights to read that scopes give, with these resources. Scopes of null give all of them. */
export function createReadRights(resources: readonly Resource[]) {
  const read_scopes: Record<string, string> = {
    ...Object.fromEntries(resources.map(({ table, scope }) => [table, `${scope}:read`])),
    ...other_kinds,
  }
  const kinds: readonly string[] = Object.keys(read_scopes)
  const kinds_of_groups = resources.flatMap((resource) => {
    const group = eventPrefix(resource)
    return group === undefined ? [] : [[group, resource.table] as const]
  })
  const kind_of_group: Record<string, string> = Object.fromEntries(kinds_of_groups)
  const kindOf = (event: string) => kind_of_group[event.split('.')[0] ?? ''] ?? ''

  // Only callers with every scope may read a kind that is missing here.
  const mayRead = (own: Scopes, kind: string): boolean => {
    const scope = read_scopes[kind]
    return own === null || (scope !== undefined && own.includes(scope))
  }
  const mayReadEvent = (own: Scopes, event: string): boolean =>
    event === 'ping' || mayRead(own, kindOf(event))

  return {
    /** The kinds of records, as the audit log calls them: those of the resources first. */
    kinds,
    /** Whether a caller may read records of a kind, as the audit log calls it. */
    mayRead,
    /** The kinds of the audit log that a caller may read; null: all. */
    readableKinds: (own: Scopes): readonly string[] | null =>
      own && kinds.filter((kind) => mayRead(own, kind)),
    /** The kind of the records that an event such as `deal.won` is about; null for a ping. */
    kindOfEvent: (event: string): string | null => kindOf(event) || null,
    /** The first parts of the names of events, such as `deal`, by kind. */
    group_of_kind: new Map(kinds_of_groups.map(([group, kind]): [string, string] => [kind, group])),
    /** Whether a caller may read the data of an event such as `deal.won`. A ping has none. */
    mayReadEvent,
    /** The first parts of the names of the events that a caller may read, such as `deal`; null: all. */
    readableGroups: (own: Scopes): readonly string[] | null =>
      own && kinds_of_groups.flatMap(([group, kind]) => (mayRead(own, kind) ? [group] : [])),
    /** Throws 403 that names the scopes which a caller lacks to be sent these events. */
    refuseUnreadable(own: Scopes, events: readonly string[]): void {
      const hidden = events.filter((event) => !mayReadEvent(own, event))
      if (!hidden.length) return
      const lacked = new Set(hidden.map((event) => read_scopes[kindOf(event)] ?? 'every scope'))
      throw forbidden(
        `A webhook with ${hidden.join(', ')} needs ${[...lacked].join(', ')}, which you lack. Ask somebody who has it.`,
      )
    },
  }
}
