import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type Session, sessionQuery } from '../app/session.ts'

const outside = /^\/(sign-in|setup|invitation|reset)(?![^/?#])/

/** The page after sign-in: only paths of this app, whatever the address says. */
export function safePath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !URL.canParse(wanted, window.location.origin)) return '/'
  const { origin, pathname, search } = new URL(wanted, window.location.origin)
  const own = origin === window.location.origin && wanted.startsWith('/') && !pathname.startsWith('//')
  return own && !outside.test(pathname) ? pathname + search : '/'
}

/** Starts a new session and opens the requested page. */
export function useEnter(): (session: Session, to?: unknown) => void {
  const client = useQueryClient()
  const router = useRouter()
  return (session, to) => {
    // No cached data belongs to this session.
    client.clear()
    client.setQueryData(sessionQuery.queryKey, session)
    router.history.push(safePath(to))
  }
}
