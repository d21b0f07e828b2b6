import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { hashToken } from '../db/token-hash.ts'
import { ApiError, forbidden, unauthorized } from '../errors.ts'
import type { Actor } from '../events/context.ts'
import { max_body_bytes } from './body.ts'
import { type Operation, open_to_all } from './operation.ts'
import { extraOf } from './own-calls.ts'
import { type Allowance, createLimiter, type Limiter } from './rate-limit.ts'
import type { App } from './server.ts'

/** The caller of a request: a key of a workspace, or a person's session in it. `scopes` is null for all scopes. */
export type Access = {
  /** The id of the key or the session. Rate limits and idempotency keys apply to it. */
  id: string
  actor: Actor
  workspace_id: number
  scopes: string[] | null
  expires_at: string | null
  /** The role of a person in the workspace; absent for a key. */
  role?: string
}

/** The SHA-256, in lower-case hex, of an API key or of a session's cookie. */
export type Credential = { kind: 'key' | 'session'; hash: string }

/** Finds the access of a credential; null when the credential is unknown or revoked. */
export type FindAccess = (credential: Credential) => Promise<Access | null>

declare module 'fastify' {
  interface FastifyRequest {
    access: Access
    credential: Credential
    /** Until then, by performance.now(), the access is not checked again. */
    access_until: number
  }
  interface FastifyReply {
    /** Counts more requests than the one of the gate, such as the messages of a batch. Throws 429, and counts none then. */
    countMore(count: number): Promise<void>
  }
}

/** Replaces a scope: the route is for signed-in people of any role. */
export const any_session = 'session'

/** The name of the cookie. The name for https has a prefix, so no other host and no http page can set it. */
export const cookieName = (protocol: string): string =>
  protocol === 'https' ? '__Host-rapport_session' : 'rapport_session'

const cookies = {
  http: /(?:^|; ?)rapport_session=([\w-]+)/,
  https: /(?:^|; ?)__Host-rapport_session=([\w-]+)/,
}

/** The text of the session's cookie, not yet checked; null without one. */
export function sessionToken({ headers, protocol }: FastifyRequest): string | null {
  if (headers.cookie === undefined) return null
  return cookies[protocol === 'https' ? 'https' : 'http'].exec(headers.cookie)?.[1] ?? null
}

/**
 * The text of the credential: the key of the Authorization header, or else the session's cookie. Other schemes are
 * ignored: a proxy in front may use Basic authentication.
 */
function credentialText(request: FastifyRequest): { kind: Credential['kind']; token: string } | null {
  const { authorization = '' } = request.headers
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? []
  if (key) return { kind: 'key', token: key }
  const session = /^Bearer(?!\S)/i.test(authorization) ? null : sessionToken(request)
  return session ? { kind: 'session', token: session } : null
}

/**
 * Refuses requests that a page of another origin makes a browser send. For each request that changes something, browsers
 * send Sec-Fetch-Site or Origin. A request without both does not come from a page.
 */
export function refuseCrossSite(request: FastifyRequest): void {
  const { method, headers } = request
  if (method === 'GET' || method === 'HEAD') return
  const site = headers['sec-fetch-site']
  const foreign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : headers.origin !== undefined && isOtherOrigin(headers.origin, request)
  if (foreign) throw forbidden('A page of another origin may not do this.')
}

// An https page may reach this service over http, through a proxy that does not send its protocol.
function isOtherOrigin(origin: string, { protocol, host }: FastifyRequest): boolean {
  const page = URL.parse(origin)
  return page?.host !== host || (protocol === 'https' && page.protocol !== 'https:')
}

type Needs = Pick<Operation, 'scope' | 'or_scopes' | 'people_only'>

/** Throws 403 if the caller lacks what a route or a record requires. */
export function requireScope({ actor, scopes }: Access, { scope, or_scopes = [], people_only }: Needs): void {
  if ((people_only || scope === any_session) && actor.kind !== 'person')
    throw forbidden('This is for people who are signed in, not for keys.')
  if (scope === any_session || !scopes || scopes.includes(scope)) return
  if (or_scopes.some((one) => scopes.includes(one))) return
  const lacked = [scope, ...or_scopes].join(' or ')
  throw forbidden(
    actor.kind === 'person' ? `Your role lacks ${lacked}.` : `This key lacks the scope ${lacked}.`,
  )
}

const isExpired = ({ expires_at }: Access, now_ms: number) =>
  expires_at !== null && Date.parse(expires_at) <= now_ms

/** Reads the current access of a request in its transaction. Throws 401 or 403 when it is no longer allowed. */
export type RecheckAccess = (db: Db, request: FastifyRequest) => Promise<Access>

/**
 * Checks a credential again, because the gate's cache may be 500 ms old. Call it for changes that outlast the
 * credential, such as a new key. If the transaction takes a lock, call it after the lock.
 */
export function createRecheckAccess(
  find: (db: Db, credential: Credential) => Promise<Access | null>,
  clock: Clock,
): RecheckAccess {
  return async (db, { access: before, credential, routeOptions }) => {
    const access = await find(db, credential)
    const { operation } = routeOptions.config
    return requireAllowed(before, access, operation, clock)
  }
}

/** Returns the current access of a request. Throws 401, 403, or 412 for a session that is in another workspace now. */
function requireAllowed(
  before: Access,
  access: Access | null,
  needs: Needs | undefined,
  clock: Clock,
): Access {
  if (!access || isExpired(access, clock.now())) throw unauthorized()
  if (access.workspace_id !== before.workspace_id) throw stalePage()
  if (needs) requireScope(access, needs)
  return access
}

/**
 * Refuses requests of a page that was opened by another person or in another workspace: all tabs share one cookie. A page
 * sends workspace_id/user_id in Rapport-Place. Requests without this header are not checked.
 */
function refuseStalePage({ headers }: FastifyRequest, { workspace_id, actor }: Access): void {
  const place = headers['rapport-place']
  if (place !== undefined && place !== `${workspace_id}/${actor.id}`) throw stalePage()
}

const stalePage = () =>
  new ApiError(
    'precondition_failed',
    'The session has changed to another workspace or person. Reload the page.',
  )

// Every process must refuse a revoked key within 1 s, so cache an access for half of it.
const remembered_ms = 500
const max_remembered = 10_000

type Entrance = { access: Access; credential: Credential; until: number }

function createAccessCache(findAccess: FindAccess) {
  const remembered = new Map<string, Entrance>()
  return {
    /** The access that was found within the last 500 ms. */
    recent(kind: Credential['kind'], token: string): Entrance | undefined {
      const known = remembered.get(token)
      // A session's text sent as a key, or a key sent as a cookie, is not valid.
      return known && known.until > performance.now() && known.credential.kind === kind ? known : undefined
    },
    /** Throws 401 for an unknown token. */
    async find(kind: Credential['kind'], token: string): Promise<Entrance> {
      const credential = { kind, hash: hashToken(token) }
      const access = await findAccess(credential)
      if (!access) {
        remembered.delete(token)
        throw unauthorized()
      }
      if (remembered.size >= max_remembered) remembered.clear()
      // Use the monotonic clock: somebody may set the wall clock.
      const found = { access, credential, until: performance.now() + remembered_ms }
      remembered.set(token, found)
      return found
    },
  }
}

/**
 * Makes the hooks for routes that require a scope. `gate` checks the key or session of a request, then the rate limit,
 * then the scope. Every request passes here, so a cached access with a local limit creates no promise. `recheck` reads
 * the access again after a body that arrived slowly.
 */
export function createGate(
  findAccess: FindAccess,
  clock: Clock,
  rate_limit_per_second: number,
  touched: (access: Access) => void,
  shared_limiter: Limiter | null = null,
) {
  const accesses = createAccessCache(findAccess)
  const too_fast = `At most ${rate_limit_per_second} ${rate_limit_per_second === 1 ? 'request' : 'requests'} a second.`
  const limiter: Limiter | null = shared_limiter ?? createLimiter(rate_limit_per_second, clock)

  function obey(
    reply: FastifyReply,
    { limit, remaining, reset_seconds, retry_after_seconds }: Allowance,
    message: string,
  ): void {
    reply
      .header('ratelimit-limit', limit)
      .header('ratelimit-remaining', remaining)
      .header('ratelimit-reset', reset_seconds)
    if (retry_after_seconds)
      throw new ApiError('rate_limited', message, { headers: { 'retry-after': String(retry_after_seconds) } })
  }

  function pass(reply: FastifyReply, access: Access, needs: Needs, allowance?: Allowance): void {
    if (allowance) obey(reply, allowance, too_fast)
    requireScope(access, needs)
  }

  async function countMore(reply: FastifyReply, count: number): Promise<void> {
    if (!limiter || !count) return
    const allowance = await limiter(reply.request.access.id, count)
    obey(
      reply,
      allowance,
      `${too_fast} Each message counts: send at most ${allowance.limit} messages at once.`,
    )
  }

  // Returns a promise only for a shared limit.
  function admit(request: FastifyRequest, reply: FastifyReply, access: Access, needs: Needs) {
    if (isExpired(access, clock.now())) throw unauthorized()
    request.access = access
    touched(access)
    const allowance = extraOf(request).counted ? undefined : limiter?.(access.id)
    if (allowance instanceof Promise) return allowance.then((shared) => pass(reply, access, needs, shared))
    pass(reply, access, needs, allowance)
  }

  const recheck = (needs: Needs) =>
    function recheck(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
      const { access, access_until } = request
      const offered = performance.now() <= access_until ? null : credentialText(request)
      if (!offered) {
        done()
        return
      }
      // Under load, late requests share one lookup.
      const { kind, token } = offered
      const entrance = accesses.recent(kind, token) ?? accesses.find(kind, token)
      const found = Promise.resolve(entrance).then((now) => {
        request.access = requireAllowed(access, now.access, needs, clock)
      })
      found.then(() => done(), done)
    }

  const gate = (needs: Needs) =>
    function gate(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const offered = credentialText(request)
      if (!offered) {
        done(unauthorized())
        return
      }
      const { kind, token } = offered
      const enter = ({ access, credential, until }: Entrance) => {
        try {
          if (kind === 'session') {
            refuseCrossSite(request)
            refuseStalePage(request, access)
            // No cache may show a person's data to the next person at the same browser.
            reply.header('cache-control', 'no-store')
          }
          request.credential = credential
          request.access_until = until
          const admitted = admit(request, reply, access, needs)
          if (admitted) admitted.then(() => done(), done)
          else done()
        } catch (error) {
          done(error as Error)
        }
      }
      const known = accesses.recent(kind, token)
      if (known) enter(known)
      else accesses.find(kind, token).then(enter, done)
    }

  return { gate, recheck, countMore }
}

/** Adds the gate to every later operation that requires a scope, and once to its HEAD route. */
export function guardRoutes(app: App, { gate, recheck, countMore }: ReturnType<typeof createGate>): void {
  app.decorateReply('countMore', function (count) {
    return countMore(this, count)
  })
  const gates = new WeakSet<object>()
  app.addHook('onRoute', (route) => {
    const { operation } = route.config ?? {}
    const hooks = [route.onRequest ?? []].flat()
    if (!operation || operation.scope === open_to_all || hooks.some((hook) => gates.has(hook))) return
    const hook = gate(operation)
    gates.add(hook)
    route.onRequest = [hook, ...hooks]
    if (route.method !== 'GET' && route.method !== 'HEAD')
      route.preValidation = [recheck(operation), ...[route.preValidation ?? []].flat()]
    // The gate runs before the body is read, so only authenticated callers may send this much.
    route.bodyLimit ??= max_body_bytes.with_key
  })
}
