const outside = /^\/(sign-in|setup|invitation|reset)(?![^/?#])/

/** The page after sign-in: only paths of this app, whatever the address says. */
export function safePath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !URL.canParse(wanted, window.location.origin)) return '/'
  const { origin, pathname, search } = new URL(wanted, window.location.origin)
  const own = origin === window.location.origin && wanted.startsWith('/') && !pathname.startsWith('//')
  return own && !outside.test(pathname) ? pathname + search : '/'
}
