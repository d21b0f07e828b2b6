import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { answerOf, api, dataOf, Problem } from '../api/client.ts'
import { forgetReads } from '../api/early-reads.ts'
import { useTexts } from '../texts/texts.ts'
import { keepEarlyStream } from './event-stream.ts'
import { showProblem } from './problems.tsx'
import { forgetRecords } from './recent.ts'

/** The session: person, workspace, and scopes of the role. Read once. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/session', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})
export type Session = Awaited<ReturnType<NonNullable<typeof sessionQuery.queryFn>>>

let last: Session | undefined

/** The session for the frame. When it has just ended, pages still get the last one until the sign-in page is shown. */
export function useReadSession(): Session | undefined {
  const { data } = useQuery(sessionQuery)
  last = data ?? last
  return last
}

// A query of its own in each row of a list would be a tenth of the work of drawing it.
export const SessionContext = createContext<Session | undefined>(undefined)

/** The session, inside the frame only. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('SessionContext has no value: render inside the frame.')
  return session
}

/** Whether the role has a scope, such as contacts:write. */
export function useMay(): (scope: string) => boolean {
  const { scopes } = useSession()
  return (scope) => scopes.includes(scope)
}

/** Deletes all data of the session and shows the sign-in page. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient()
  const texts = useTexts()
  return async () => {
    try {
      await answerOf(api.DELETE('/api/v1/session'))
    } catch (error) {
      // A session that has already ended counts as signed out.
      if (!(error instanceof Problem) || error.status !== 401) return showProblem(error, texts)
    }
    client.clear()
    forgetRecords()
    keepSignedIn(false)
    window.location.assign('/sign-in')
  }
}

const signed_in = 'rapport-signed-in'

/** Remembers in this browser that somebody is signed in, so that the end of a session differs from the lack of one. */
export function keepSignedIn(now: boolean): void {
  try {
    if (now) localStorage.setItem(signed_in, '1')
    else {
      localStorage.removeItem(signed_in)
      forgetReads()
      keepEarlyStream(false)
    }
  } catch {
    // Storage may be disabled. Then a reload after the end of a session gives no reason.
  }
}

/** Whether this browser had a session that has ended since. True once. */
export function hadSession(): boolean {
  try {
    return localStorage.getItem(signed_in) !== null
  } catch {
    return false
  } finally {
    keepSignedIn(false)
  }
}

let leaving = false

/**
 * Shows the sign-in page with a way back, because the session has ended. Reloads the page, so that no data
 * of the session stays in memory.
 */
export function leaveToSignIn(): void {
  if (leaving) return
  leaving = true
  const { pathname, search } = window.location
  keepSignedIn(false)
  window.location.assign(`/sign-in?${new URLSearchParams({ to: pathname + search, ended: '1' })}`)
}
