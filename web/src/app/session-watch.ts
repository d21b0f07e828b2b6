import type { QueryClient } from '@tanstack/react-query'
import { isElsewhere, onRefusal, Problem, setPlace } from '../api/client.ts'
import { keepFirstReads } from '../api/early-reads.ts'
import { loadHome } from './router.tsx'
import { keepSignedIn, leaveToSignIn, type Session, sessionQuery } from './session.ts'

/**
 * All tabs of a browser share one session. When it ends, or changes to another person or workspace, each
 * tab leaves its page. When the role or the language changes, each tab updates. The session is read again
 * when the window regains focus, and when the service answers 403 (role) or 412 (place, or a
 * record that somebody else has changed).
 */
export function watchSession(client: QueryClient): void {
  const readAgain = () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== sessionQuery.queryKey[0]) return
    const { data, error } = query.state
    if (!data) return
    if (error instanceof Problem && error.status === 401) leaveToSignIn()
    else if (isElsewhere(data as Session)) window.location.assign('/')
    else {
      setPlace(data as Session)
      keepSignedIn(true)
      keepFirstReads(data as Session, async () => (await loadHome()).firstReads(data as Session))
    }
  })
  onRefusal(({ status, conditional }) => {
    if (!client.getQueryData(sessionQuery.queryKey)) return
    if (status === 401) leaveToSignIn()
    else if (status === 403 || (status === 412 && !conditional)) readAgain()
  })
  window.addEventListener('focus', readAgain)
}
