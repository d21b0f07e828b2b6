import { useEffect, useState } from 'react'

const readToken = () => window.location.hash.slice(1) || null

/**
 * The token of the link that led here, from behind the # of the address; null when there was none. It is taken out of the
 * address, so that it stays in no history and no picture of the screen.
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
    // A second link that is opened in the same tab loads no new page.
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])
  return token
}
