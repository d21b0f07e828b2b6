import { randomUUID } from 'node:crypto'

let last_ms = 0
let in_this_ms = 0

/**
 * A public text id such as `wh_01a1fd…`: unique, and growing with time, so that its order is the order of creation.
 * 48 bits of milliseconds and 16 of a counter that keeps this process's ids in order, then 64 random bits. The same idea
 * as UUID version 7, at a tenth of the price: a change makes three of them.
 */
export function newId(prefix: 'key' | 'wh' | 'evt' | 'dlv' | 'clm' | 'usr' | 'ses' | 'inv' | 'view'): string {
  // Never back, even when the machine's clock is set back; a full counter borrows from the next millisecond.
  const now = Math.max(Date.now(), last_ms)
  in_this_ms = now === last_ms ? in_this_ms + 1 : 0
  last_ms = in_this_ms > 0xffff ? now + 1 : now
  in_this_ms &= 0xffff
  const random = randomUUID()
  const tail = random.slice(24) + random.slice(0, 4)
  return `${prefix}_${last_ms.toString(16).padStart(12, '0')}${in_this_ms.toString(16).padStart(4, '0')}${tail}`
}
