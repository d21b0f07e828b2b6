import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Access, Credential, FindAccess } from '../../http/auth.ts'

/** Who follows: a live key or session with the scope that it needs. */
export type Follower = { access: Access; credential: Credential; scope: string }

const recheck_ms = 1000
// SQLite answers in the same turn of the event loop: after so many, others get theirs.
const looked_at_together = 200

/**
 * Looks at the keys and sessions of followers, about every second: they may end, or lose a scope, while somebody follows. Calls
 * `end` for each who may follow no more; the others have their access as it is now.
 */
export function createRecheck(findAccess: FindAccess, clock: Clock) {
  let checked_at = 0

  function mayFollow({ scope, access: { workspace_id } }: Follower, now: Access | null): now is Access {
    if (!now || now.workspace_id !== workspace_id) return false
    if (now.expires_at !== null && Date.parse(now.expires_at) <= clock.now()) return false
    return now.scopes === null || now.scopes.includes(scope)
  }

  return async <One extends Follower>(followers: Iterable<One>, end: (one: One) => void): Promise<void> => {
    if (performance.now() - checked_at < recheck_ms) return
    checked_at = performance.now()
    const credentials = new Map([...followers].map(({ credential }) => [credential.hash, credential]))
    const found = new Map<string, Access | null>()
    for (const [hash, credential] of credentials) {
      found.set(hash, await findAccess(credential))
      if (found.size % looked_at_together === 0) await nextTurn()
    }
    for (const one of followers) {
      const access = found.get(one.credential.hash)
      // Come meanwhile: the key has just been looked at.
      if (access === undefined) continue
      if (mayFollow(one, access)) one.access = access
      else end(one)
    }
  }
}
