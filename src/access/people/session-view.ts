import type { FastifyRequest } from 'fastify'
import { isoTime } from '../../clock.ts'
import { choicesOf } from '../../db/choices.ts'
import type { Db } from '../../db/db.ts'
import { preferencesOf } from '../../mails/preferences.ts'
import { offsetPeriods } from '../../zones/wall.ts'
import { workspacesOf } from './memberships.ts'
import type { RoleScopes } from './roles.ts'
import type { Profile, SignedIn } from './schema.ts'
import { findUser } from './users.ts'

/** A person as the profile shows it. */
export async function profileOf(db: Db, id: string): Promise<Profile> {
  const user = await findUser(db, id)
  if (!user) throw new Error(`There is no person ${id}.`)
  const { name, email, time_zone, language } = user
  const mail_preferences = preferencesOf(user.mail_preferences)
  return { id, name, email, time_zone, language: language as Profile['language'], mail_preferences }
}

export type OwnSession = { session_id: string; user_id: string; workspace_id: number }

/** The session of a request, with its person and workspace. Only for routes that refuse keys. */
export const ownSession = ({ access }: FastifyRequest): OwnSession => ({
  session_id: access.id,
  user_id: String(access.actor.id),
  workspace_id: access.workspace_id,
})

/** The answer of GET for a session; null if the person is no longer a member. */
export async function signedIn(
  db: Db,
  { session_id, user_id, workspace_id }: OwnSession,
  role_scopes: RoleScopes,
  now_ms: number,
): Promise<SignedIn | null> {
  const workspaces = await workspacesOf(db, user_id)
  const here = workspaces.find(({ id }) => id === workspace_id)
  if (!here) return null
  const { id, name, currency, role } = here
  const user = await profileOf(db, user_id)
  return {
    user,
    workspace: { id, name, currency, ...(await choicesOf(db, id)) },
    role,
    scopes: role_scopes.named(role),
    workspaces: workspaces.map(({ id, name, role }) => ({ id, name, role })),
    session_id,
    time_zone_offsets: user.time_zone === null ? [] : offsetsOf(user.time_zone, now_ms),
  }
}

// By whole years: the entity tag of a session stays the same until the next one.
function offsetsOf(time_zone: string, now_ms: number): SignedIn['time_zone_offsets'] {
  const year = new Date(now_ms).getUTCFullYear()
  return offsetPeriods(time_zone, Date.UTC(year - 1), Date.UTC(year + 3)).map(({ start_ms, offset_ms }) => ({
    from: isoTime(start_ms),
    utc_offset_minutes: Math.round(offset_ms / 60_000),
  }))
}
