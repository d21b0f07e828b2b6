import { argon2 as nodeArgon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import type { FieldProblem } from '../../http/errors.ts'
import { createTurns } from './turns.ts'

// What OWASP advises: 19 MiB, two passes, one lane.
export const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const tag_length = 32
export const salt_length = 16

/** What a hash is made with, which stands in its text: later ones may be made with more. */
export type Cost = { memory: number; passes: number; parallelism: number }
export type Argon2 = (password: Buffer, salt: Buffer, cost: Cost, length: number) => Promise<Uint8Array>

/** By Node itself, on its thread pool; null where this Node has none. */
export const byNode: Argon2 | null =
  typeof nodeArgon2 === 'function'
    ? (message, nonce, cost, tagLength) =>
        promisify(nodeArgon2)('argon2id', { message, nonce, tagLength, ...cost })
    : null

/** By a library, on this thread, which others get a turn on every few milliseconds. */
export const byLibrary: Argon2 = async (password, salt, { memory: m, passes: t, parallelism: p }, dkLen) => {
  const { argon2idAsync } = await import('@noble/hashes/argon2.js')
  return argon2idAsync(password, salt, { m, t, p, dkLen, asyncTick: 5 })
}

const argon2 = byNode ?? byLibrary

/** Who asks for a hash: somebody who has shown who they are (a known browser, a session, a link), or anybody else. */
export type Asker = { shown: boolean; key: string }
const anybody: Asker = { shown: false, key: '' }

// A hash takes 19 MiB, and one of the four threads that files and host names need too. One core is left to the requests.
export const most_at_once = Math.max(1, Math.min(2, availableParallelism() - 1))
const most_waiting = 200
const turns = createTurns(most_at_once, most_waiting)
// A flood of strangers cannot delay these.
const shown_turns = createTurns(1, most_waiting)
/** How many hashes are made now for people who have not shown who they are. */
export const running = turns.busy
/** How many were made for them so far. */
export const made = turns.taken

const inTurn = <T>({ shown, key }: Asker, work: () => Promise<T>): Promise<T> =>
  (shown ? shown_turns : turns).take(key, work)

// The same password typed on two machines may be composed in two ways.
const bytesOf = (password: string) => Buffer.from(password.normalize('NFKC'))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replaceAll('=', '')
const startOf = ({ memory, passes, parallelism }: Cost, salt: Uint8Array) =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$`
const textOf = (cost: Cost, salt: Uint8Array, hash: Uint8Array) => startOf(cost, salt) + base64(hash)
/** What the text of every hash begins with that is made with this salt now. */
export const hashStart = (salt: Uint8Array): string => startOf(cost, salt)

/** A password's argon2id hash in PHC string format. 503 when too many wait. */
export async function hashPassword(
  password: string,
  asker = anybody,
  salt: Buffer = randomBytes(salt_length),
): Promise<string> {
  const hash = await inTurn(asker, () => argon2(bytesOf(password), salt, cost, tag_length))
  return textOf(cost, salt, hash)
}

// What no password has: a check against it costs what any other check does.
const nobody = textOf(cost, randomBytes(salt_length), randomBytes(tag_length))
const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/

/** Whether a password is the one of a hash; null in place of a hash, for somebody unknown, costs the same and is false. 503 when too many wait. */
export async function checkPassword(
  password: string,
  kept: string | null,
  asker = anybody,
): Promise<boolean> {
  const [, m, t, p, salt = '', hash = ''] = form.exec(kept ?? nobody) ?? []
  if (!hash) throw new Error('A stored password has another form.')
  const made_with = { memory: Number(m), passes: Number(t), parallelism: Number(p) }
  const expected = Buffer.from(hash, 'base64')
  const found = await inTurn(asker, () =>
    argon2(bytesOf(password), Buffer.from(salt, 'base64'), made_with, expected.length),
  )
  return timingSafeEqual(found, expected) && kept !== null
}

const shortest = 10

/** What is wrong with a password that is to be set: its length counts, and that it is not the e-mail; no other rules (NIST SP 800-63B). */
export function passwordProblems(field: string, password: unknown, email: unknown): FieldProblem[] {
  if (typeof password !== 'string') return []
  const problem = (code: string, text: string) => [{ field, code, message: `${field} ${text}.` }]
  if ([...password].length < shortest)
    return problem('too_short', `must have at least ${shortest} characters`)
  if (typeof email === 'string' && password.trim().toLowerCase() === email.trim().toLowerCase())
    return problem('too_easy', 'must not be the e-mail')
  return []
}
