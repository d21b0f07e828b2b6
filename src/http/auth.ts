import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Db } from '../db/db.ts'
import type { Actor } from '../events/context.ts'
import { max_body_bytes } from './body.ts'
import { ApiError, forbidden, unauthorized } from './errors.ts'
import { type Operation, open_to_all } from './operation.ts'
import { type Allowance, createLimiter, type Limiter } from './rate-limit.ts'
import type { App } from './server.ts'

/** Who calls: a key of a workspace, or a person by a session in one. `scopes` null: all of them. */
export type Access = {
  /** Of the key or the session: what rate limits and idempotency keys count by. */
  id: string
  actor: Actor
  workspace_id: number
  scopes: string[] | null
  expires_at: string | null
  /** Of a person in the workspace; a key has none. */
  role?: string
}

/** What a caller shows, by the SHA-256 of its text in lower-case hex: an API key, or a session's cookie. */
export type Credential = { kind: 'key' | 'session'; hash: string }

/** Finds whom a credential lets in; null when it is unknown or was taken back. */
export type FindAccess = (credential: Credential) => Promise<Access | null>

declare module 'fastify' {
  interface FastifyRequest {
    access: Access
    credential: Credential
  }
}

/** In place of a scope: a route for a signed-in person alone, whatever the role. */
export const any_session = 'session'

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The cookie's name: over https one that no other host, and no page over http, can set. */
export const cookieName = (protocol: string): string =>
  protocol === 'https' ? '__Host-rapport_session' : 'rapport_session'

const cookies = {
  http: /(?:^|; ?)rapport_session=([\w-]+)/,
  https: /(?:^|; ?)__Host-rapport_session=([\w-]+)/,
}

/** The text of the session's cookie, whatever it is worth; null when there is none. */
export function sessionToken({ headers, protocol }: FastifyRequest): string | null {
  if (headers.cookie === undefined) return null
  return cookies[protocol === 'https' ? 'https' : 'http'].exec(headers.cookie)?.[1] ?? null
}

/**
 * The credential's text: the key of the Authorization header, or, when it names none, the session's cookie. Another scheme
 * is none of ours: a proxy in front may ask for a password of its own.
 */
function shown(request: FastifyRequest): { kind: Credential['kind']; token: string } | null {
  const { authorization = '' } = request.headers
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? []
  if (key) return { kind: 'key', token: key }
  const session = /^Bearer(?!\S)/i.test(authorization) ? null : sessionToken(request)
  return session ? { kind: 'session', token: session } : null
}

/**
 * Refuses what a page of another origin makes a browser send. Browsers name the origin of every request that changes
 * something, in one header or the other; what has neither comes from no page.
 */
export function refuseForeign({ method, headers, host }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD') return
  const site = headers['sec-fetch-site']
  const foreign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : headers.origin !== undefined && URL.parse(headers.origin)?.host !== host
  if (foreign) throw forbidden('A page of another origin may not do this.')
}

type Needs = Pick<Operation, 'scope' | 'people_only'>

/** Throws 403 when an access does not allow what a route, or a record that the request names, needs. */
export function refuseBeyond({ actor, scopes }: Access, { scope, people_only }: Needs): void {
  if ((people_only || scope === any_session) && actor.kind !== 'person')
    throw forbidden('This is for people who are signed in, not for keys.')
  if (scope !== any_session && scopes && !scopes.includes(scope))
    throw forbidden(
      actor.kind === 'person' ? `Your role lacks ${scope}.` : `This key lacks the scope ${scope}.`,
    )
}

const isOver = ({ expires_at }: Access, now_ms: number) =>
  expires_at !== null && Date.parse(expires_at) <= now_ms

/** The access that a request has now, in its transaction; 401 or 403 when it has it no longer. */
export type RecheckAccess = (tx: Db, request: FastifyRequest) => Promise<Access>

/**
 * Makes the second look at a credential, for changes that outlast it, such as a new key: what the gate remembers may be half
 * a second old. Where others wait at a lock, it comes behind the lock.
 */
export function createRecheckAccess(
  find: (tx: Db, credential: Credential) => Promise<Access | null>,
  clock: Clock,
): RecheckAccess {
  return async (tx, { credential, routeOptions }) => {
    const access = await find(tx, credential)
    if (!access || isOver(access, clock.now())) throw unauthorized()
    const { operation } = routeOptions.config
    if (operation) refuseBeyond(access, operation)
    return access
  }
}

/**
 * Refuses what a page sends that was opened as somebody else, or in another workspace: browsers have one cookie for all tabs.
 * A page says in Rapport-Place whose and where it is, as workspace_id/user_id; who says nothing is not asked.
 */
function refuseElsewhere({ headers }: FastifyRequest, { workspace_id, actor }: Access): void {
  const place = headers['rapport-place']
  if (place !== undefined && place !== `${workspace_id}/${actor.id}`)
    throw new ApiError(
      'precondition_failed',
      'This page is of another workspace or another person than the session. Load it again.',
    )
}

// A revocation counts within a second in every process, so an answer is remembered for half of one.
const remembered_ms = 500
const max_remembered = 10_000

/**
 * What lets a request in: the key or the session, then the rate limit, then the scope. Returns the hook for routes that
 * need a scope. A key that was just found costs no promise, since every request passes here; a limit that processes share costs one.
 */
export function createGate(
  findAccess: FindAccess,
  clock: Clock,
  rate_limit_per_second: number,
  touched: (access: Access) => void,
  shared_limiter: Limiter | null = null,
) {
  const remembered = new Map<string, { access: Access; credential: Credential; until: number }>()
  const too_fast = `At most ${rate_limit_per_second} ${rate_limit_per_second === 1 ? 'request' : 'requests'} a second.`
  const limiter: Limiter | null = shared_limiter ?? createLimiter(rate_limit_per_second, clock)

  async function lookUp(kind: Credential['kind'], token: string) {
    const credential = { kind, hash: hashToken(token) }
    const access = await findAccess(credential)
    if (!access) {
      remembered.delete(token)
      throw unauthorized()
    }
    if (remembered.size >= max_remembered) remembered.clear()
    // Monotonic, because the clock of a test or of a machine may be turned.
    const found = { access, credential, until: performance.now() + remembered_ms }
    remembered.set(token, found)
    return found
  }

  function pass(reply: FastifyReply, access: Access, needs: Needs, allowance?: Allowance): void {
    if (allowance) {
      const { limit, remaining, reset_seconds, retry_after_seconds } = allowance
      reply
        .header('ratelimit-limit', limit)
        .header('ratelimit-remaining', remaining)
        .header('ratelimit-reset', reset_seconds)
      if (retry_after_seconds)
        throw new ApiError('rate_limited', too_fast, {
          headers: { 'retry-after': String(retry_after_seconds) },
        })
    }
    refuseBeyond(access, needs)
  }

  // A promise only when the limit is shared and has to be asked for.
  function admit(request: FastifyRequest, reply: FastifyReply, access: Access, needs: Needs) {
    if (isOver(access, clock.now())) throw unauthorized()
    request.access = access
    touched(access)
    const allowance = limiter?.(access.id)
    if (allowance instanceof Promise) return allowance.then((told) => pass(reply, access, needs, told))
    pass(reply, access, needs, allowance)
  }

  return (needs: Needs) =>
    function gate(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const offered = shown(request)
      if (!offered) {
        done(unauthorized())
        return
      }
      const { kind, token } = offered
      const enter = ({ access, credential }: { access: Access; credential: Credential }) => {
        try {
          if (kind === 'session') {
            refuseForeign(request)
            refuseElsewhere(request, access)
            // What one person is shown is in no cache for the next one at the same browser.
            reply.header('cache-control', 'no-store')
          }
          request.credential = credential
          const admitted = admit(request, reply, access, needs)
          if (admitted) admitted.then(() => done(), done)
          else done()
        } catch (error) {
          done(error as Error)
        }
      }
      const known = remembered.get(token)
      // A session's text is no key, nor the other way round.
      if (known && known.until > performance.now() && known.credential.kind === kind) enter(known)
      else lookUp(kind, token).then(enter, done)
    }
}

/** Puts the gate before every operation that is registered later and needs a scope, and before its HEAD twin once. */
export function guardRoutes(app: App, gate: ReturnType<typeof createGate>): void {
  const gates = new WeakSet<object>()
  app.addHook('onRoute', (route) => {
    const { operation } = route.config ?? {}
    const hooks = [route.onRequest ?? []].flat()
    if (!operation || operation.scope === open_to_all || hooks.some((hook) => gates.has(hook))) return
    const hook = gate(operation)
    gates.add(hook)
    route.onRequest = [hook, ...hooks]
    // The gate stands before the body: nobody else makes the service read this much.
    route.bodyLimit ??= max_body_bytes.with_key
  })
}
