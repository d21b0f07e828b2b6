import { conflict } from './errors.ts'

/**
 * Throws 409 when one more would be beyond a limit, such as `A workspace has at most 100 webhooks`, with what to do. The
 * caller counts under a lock that every creation and restore waits for, so that the limit is exact.
 */
export function refuseMore(count: number, most: number, limit: string, remedy: string): void {
  if (count >= most) throw conflict(`${limit}. ${remedy}`)
}
