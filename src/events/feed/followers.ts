import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Access, Credential, FindAccess } from '../../http/auth.ts'

/** A client that follows: its key or session, and the scope that it needs. */
export type Follower = { access: Access; credential: Credential; scope: string }

const recheck_ms = 1000
// SQLite answers without leaving the event loop, so yield after this many look-ups.
const lookups_at_once = 200

/**
 * Checks the keys and sessions of all followers again every second: they may expire, be revoked or lose a scope. Calls
 * `end` for each follower that may no longer follow, and updates the access of the others.
 */
export function createRecheck(findAccess: FindAccess, clock: Clock) {
  let checked_at_ms = 0

  function mayFollow({ scope, access: before }: Follower, access: Access | null): access is Access {
    if (!access || access.workspace_id !== before.workspace_id) return false
    if (access.expires_at !== null && Date.parse(access.expires_at) <= clock.now()) return false
    return access.scopes === null || access.scopes.includes(scope)
  }

  return async <F extends Follower>(followers: Iterable<F>, end: (follower: F) => void): Promise<void> => {
    if (performance.now() - checked_at_ms < recheck_ms) return
    checked_at_ms = performance.now()
    const credentials = new Map([...followers].map(({ credential }) => [credential.hash, credential]))
    const found = new Map<string, Access | null>()
    for (const [hash, credential] of credentials) {
      found.set(hash, await findAccess(credential))
      if (found.size % lookups_at_once === 0) await nextTurn()
    }
    for (const follower of followers) {
      const access = found.get(follower.credential.hash)
      // The follower joined during the check, so its key was just checked.
      if (access === undefined) continue
      if (mayFollow(follower, access)) follower.access = access
      else end(follower)
    }
  }
}
