import type { Schemas } from '../api/client.ts'

export type Role = Schemas['Member']['role']
/** The roles of a workspace, most powerful first. */
export const roles: Role[] = ['owner', 'admin', 'member', 'read_only']
