import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type Session, sessionQuery } from '../app/session.ts'

const outside = /^\/(sign-in|setup|invitation|reset)(?![^/?#])/

/** Where to go after signing in: only to a page of this app, whatever the address says. */
export function safePath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !URL.canParse(wanted, window.location.origin)) return '/'
  const { origin, pathname, search } = new URL(wanted, window.location.origin)
  const own = origin === window.location.origin && wanted.startsWith('/') && !pathname.startsWith('//')
  return own && !outside.test(pathname) ? pathname + search : '/'
}

/** Takes over a session that has just begun, and shows the page that was asked for. */
export function useEnter(): (session: Session, to?: unknown) => void {
  const client = useQueryClient()
  const router = useRouter()
  return (session, to) => {
    // Nothing that was read before belongs to this session.
    client.clear()
    client.setQueryData(sessionQuery.queryKey, session)
    router.history.push(safePath(to))
  }
}
