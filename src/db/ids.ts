import { createHash, randomUUID } from 'node:crypto'

let last_ms = 0
let in_this_ms = 0

/**
 * A public text id such as `wh_01a1fd…`: unique, and ordered by creation. It has 48 bits of milliseconds, a counter of
 * 16 bits and 64 random bits. The counter orders the ids of this process. The id is like UUID version 7, but takes a tenth
 * of the time to make. A change makes three ids.
 */
export function newId(
  prefix:
    | 'key'
    | 'wh'
    | 'evt'
    | 'dlv'
    | 'clm'
    | 'usr'
    | 'ses'
    | 'inv'
    | 'view'
    | 'imp'
    | 'grp'
    | 'wrk'
    | 'mail'
    | 'busy'
    | 'feed',
): string {
  // The time never decreases, also when the machine's clock is set back. A full counter uses the next millisecond.
  const now_ms = Math.max(Date.now(), last_ms)
  in_this_ms = now_ms === last_ms ? in_this_ms + 1 : 0
  last_ms = in_this_ms > 0xffff ? now_ms + 1 : now_ms
  in_this_ms &= 0xffff
  const random = randomUUID()
  const tail = random.slice(24) + random.slice(0, 4)
  return `${prefix}_${last_ms.toString(16).padStart(12, '0')}${in_this_ms.toString(16).padStart(4, '0')}${tail}`
}

/** An id that follows from a text, and is the same each time. */
export const idFrom = (prefix: 'grp', text: string): string =>
  `${prefix}_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
