import type { Schemas } from '../api/client.ts'

export type Role = Schemas['Member']['role']
/** What a person may be in a workspace, the mightiest first. */
export const roles: Role[] = ['owner', 'admin', 'member', 'read_only']
