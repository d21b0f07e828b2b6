import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieName, refuseCrossSite } from '../../http/auth.ts'
import { subscriberOf } from '../../http/client-address.ts'
import { type Device, longest_ms } from './sessions.ts'

/** The attributes of all cookies: scripts and other sites cannot use them. */
export const cookieAttributes = (protocol: string) =>
  `Path=/; HttpOnly; SameSite=Strict${protocol === 'https' ? '; Secure' : ''}`

/** The Set-Cookie of a session, with the longest life of a session. The server decides when this session ends. */
export const cookieOf = ({ protocol }: FastifyRequest, token: string): string =>
  `${cookieName(protocol)}=${token}; Max-Age=${longest_ms / 1000}; ${cookieAttributes(protocol)}`

/** The Set-Cookie that removes the session cookie. */
export const noCookie = ({ protocol }: FastifyRequest): string =>
  `${cookieName(protocol)}=; Max-Age=0; ${cookieAttributes(protocol)}`

/** The hook of open routes: refuses pages of other origins and forbids caching. The gate does both for sessions. */
export function guardOpenRoute(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  refuseCrossSite(request)
  reply.header('cache-control', 'no-store')
  done()
}

/** POST of a password, or of the token of a link. Not even the hash of its body may be stored. */
export const open_post = {
  method: 'POST',
  scope: 'open',
  repeatable: false,
  onRequest: guardOpenRoute,
} as const

/** The browser and the address that a session stores. */
export const deviceOf = ({ headers, ip }: FastifyRequest): Device => ({
  user_agent: headers['user-agent']?.slice(0, 500).toWellFormed().replaceAll('\0', '') || null,
  address: ip.slice(0, 100),
})

/** The address or network by which failed sign-ins are counted. */
export const addressOf = ({ ip, socket }: FastifyRequest): string => subscriberOf(ip, socket.remoteAddress)
