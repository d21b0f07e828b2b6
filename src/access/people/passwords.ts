import { argon2 as nodeArgon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import type { FieldCode, FieldProblem } from '../../errors.ts'
import { createFairQueue } from './fair-queue.ts'

/** The cost of a hash. Its text contains the cost, so later hashes may have another one. */
export type Cost = { memory: number; passes: number; parallelism: number }
// The values that OWASP recommends: 19 MiB, two passes, one lane.
export const default_cost: Readonly<Cost> = { memory: 19_456, passes: 2, parallelism: 1 }
const tag_length = 32
export const salt_length = 16

type Argon2 = (password: Buffer, salt: Buffer, cost: Cost, length: number) => Promise<Uint8Array>

/** Argon2 of Node, on its thread pool. Null if this version of Node lacks it. */
export const nativeArgon2: Argon2 | null =
  typeof nodeArgon2 === 'function'
    ? (message, nonce, cost, tagLength) =>
        promisify(nodeArgon2)('argon2id', { message, nonce, tagLength, ...cost })
    : null

/** Argon2 of a library, on the main thread. It yields to the event loop every 5 ms. */
export const libraryArgon2: Argon2 = async (
  password,
  salt,
  { memory: m, passes: t, parallelism: p },
  dkLen,
) => {
  const { argon2idAsync } = await import('@noble/hashes/argon2.js')
  return argon2idAsync(password, salt, { m, t, p, dkLen, asyncTick: 5 })
}

const argon2 = nativeArgon2 ?? libraryArgon2

/** The caller that asks for a hash. `identified`: by a known browser, a session or a link. Callers take turns by `key`. */
export type Asker = { identified: boolean; key: string }
const anonymous: Asker = { identified: false, key: '' }

// A hash takes 19 MiB and one of Node's four pool threads, which files and DNS use too. Leave one core for requests.
export const max_concurrent_hashes = Math.max(1, Math.min(2, availableParallelism() - 1))
const max_waiting = 200
const anonymous_queue = createFairQueue(max_concurrent_hashes, max_waiting)
// A queue of its own, so that a flood of anonymous requests cannot delay identified people.
const identified_queue = createFairQueue(1, max_waiting)
/** The number of hashes for anonymous people that run now. */
export const hashesRunning = anonymous_queue.busy
/** The number of hashes for anonymous people that have started. */
export const hashesStarted = anonymous_queue.started

const queued = <T>({ identified, key }: Asker, work: () => Promise<T>): Promise<T> =>
  (identified ? identified_queue : anonymous_queue).run(key, work)

// Normalize: two machines may send the same password in two Unicode compositions.
const bytesOf = (password: string) => Buffer.from(password.normalize('NFKC'))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replaceAll('=', '')
/** The start of the text of each hash with this cost and salt. */
export const hashStart = ({ memory, passes, parallelism }: Cost, salt: Uint8Array) =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$`
const textOf = (cost: Cost, salt: Uint8Array, hash: Uint8Array) => hashStart(cost, salt) + base64(hash)
/** A password's argon2id hash in PHC string format. Throws 503 if the queue is full. */
export async function hashPassword(
  password: string,
  {
    asker = anonymous,
    salt = randomBytes(salt_length),
    cost = default_cost,
  }: { asker?: Asker; salt?: Buffer; cost?: Cost } = {},
): Promise<string> {
  const hash = await queued(asker, () => argon2(bytesOf(password), salt, cost, tag_length))
  return textOf(cost, salt, hash)
}

// Matches no password. A check against it costs as much as any other check.
const dummy_hash = textOf(default_cost, randomBytes(salt_length), randomBytes(tag_length))
const hash_pattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/

/**
 * Whether a password has a stored hash. Null, for an unknown person, is false at the same cost. Throws 503 if the queue is
 * full.
 */
export async function checkPassword(
  password: string,
  stored_hash: string | null,
  asker = anonymous,
): Promise<boolean> {
  const [, m, t, p, salt = '', hash = ''] = hash_pattern.exec(stored_hash ?? dummy_hash) ?? []
  if (!hash) throw new Error('A stored password hash has an unknown format.')
  const made_with = { memory: Number(m), passes: Number(t), parallelism: Number(p) }
  const expected = Buffer.from(hash, 'base64')
  const found = await queued(asker, () =>
    argon2(bytesOf(password), Buffer.from(salt, 'base64'), made_with, expected.length),
  )
  return timingSafeEqual(found, expected) && stored_hash !== null
}

const min_length = 10

/** Problems of a new password: it is too short, or it is the e-mail. NIST SP 800-63B advises against other rules. */
export function passwordProblems(field: string, password: unknown, email: unknown): FieldProblem[] {
  if (typeof password !== 'string') return []
  const problem = (code: FieldCode, text: string) => [{ field, code, message: `${field} ${text}.` }]
  if ([...password].length < min_length)
    return problem('too_short', `must have at least ${min_length} characters`)
  if (typeof email === 'string' && password.trim().toLowerCase() === email.trim().toLowerCase())
    return problem('too_easy', 'must not be the e-mail')
  return []
}
