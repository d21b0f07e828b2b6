import { conflict } from './errors.ts'

/**
 * Throws 409 when a limit is reached. `limit` names it, such as `A workspace has at most 100 webhooks`, and `remedy` says
 * what to do. The caller counts under a lock that every creation and restore takes, so that the limit is exact.
 */
export function refuseMore(count: number, most: number, limit: string, remedy: string): void {
  if (count >= most) throw conflict(`${limit}. ${remedy}`)
}
