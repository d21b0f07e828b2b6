import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, api, dataOf, Problem } from '../api/client.ts'
import { useTexts } from '../texts/texts.ts'
import { tellProblem } from './problems.tsx'
import { forgetRecords } from './recent.ts'

/** Who is signed in, where, and what the role allows; asked once and kept. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => dataOf(api.GET('/api/v1/session')),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})
export type Session = Awaited<ReturnType<NonNullable<typeof sessionQuery.queryFn>>>

let last: Session | undefined

/**
 * The session; only inside the frame, which is shown when there is one. The pages of one that has just ended go on to show
 * it for the moment until the page for signing in is there.
 */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  last = data ?? last
  if (!last) throw new Error('There is no session here.')
  return last
}

/** Whether the role allows something, such as contacts:write. */
export function useMay(): (scope: string) => boolean {
  const { scopes } = useSession()
  return (scope) => scopes.includes(scope)
}

/** Forgets everything of the session, and shows the page for signing in. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient()
  const texts = useTexts()
  return async () => {
    try {
      await answerOf(api.DELETE('/api/v1/session'))
    } catch (error) {
      // One that has ended already is signed out.
      if (!(error instanceof Problem) || error.status !== 401) return tellProblem(error, texts)
    }
    client.clear()
    forgetRecords()
    window.location.assign('/sign-in')
  }
}

let leaving = false

/**
 * Shows the page for signing in, which leads back here, because the session has ended elsewhere. The page is loaded anew:
 * nothing that was read in the session stays.
 */
export function leaveToSignIn(): void {
  if (leaving) return
  leaving = true
  const { pathname, search } = window.location
  window.location.assign(`/sign-in?${new URLSearchParams({ to: pathname + search })}`)
}
