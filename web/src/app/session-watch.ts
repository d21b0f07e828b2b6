import type { QueryClient } from '@tanstack/react-query'
import { isElsewhere, onRefusal, Problem, setPlace } from '../api/client.ts'
import { leaveToSignIn, type Session, sessionQuery } from './session.ts'

/**
 * All tabs of a browser have one session. Where it ends, or becomes another person's or another workspace's, each tab leaves
 * what it shows; where its role or its language changes, each tab follows. It is read again when the window is taken up, and
 * when the service refuses something for the role (403) or the place (412).
 */
export function watchSession(client: QueryClient): void {
  const readAgain = () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== sessionQuery.queryKey[0]) return
    const { data, error } = query.state
    if (!data) return
    if (error instanceof Problem && error.status === 401) leaveToSignIn()
    else if (isElsewhere(data as Session)) window.location.assign('/')
    else setPlace(data as Session)
  })
  onRefusal(({ status }) => {
    if (!client.getQueryData(sessionQuery.queryKey)) return
    if (status === 401) leaveToSignIn()
    else if (status === 403 || status === 412) readAgain()
  })
  window.addEventListener('focus', readAgain)
}
