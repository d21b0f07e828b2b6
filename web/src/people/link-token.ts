import { useEffect, useState } from 'react'
import type { Problem } from '../api/client.ts'

const readToken = () => window.location.hash.slice(1) || null

/**
 * The token after the # of the address; null if there is none. It is removed from the address, so that it
 * is not in the history or on screenshots.
 */
export function useLinkToken(): string | null {
  const [token, setToken] = useState(readToken)
  useEffect(() => {
    function take() {
      const found = readToken()
      if (!found) return
      setToken(found)
      const { pathname, search } = window.location
      window.history.replaceState(window.history.state, '', pathname + search)
    }
    take()
    // A second link in the same tab does not reload the page.
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])
  return token
}

/** Whether the service refuses the token: it is unknown, used or expired. */
export const refusesToken = ({ fields }: Problem): boolean => fields.some(({ field }) => field === 'token')
