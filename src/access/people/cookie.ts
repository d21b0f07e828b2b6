import type { FastifyReply, FastifyRequest } from 'fastify'
import { cookieName, refuseForeign } from '../../http/auth.ts'
import { subscriberOf } from '../../http/client-address.ts'
import { type Device, longest_ms } from './sessions.ts'

/** What every cookie of the service has: out of the reach of scripts and of other sites. */
export const cookieAttributes = (protocol: string) =>
  `Path=/; HttpOnly; SameSite=Strict${protocol === 'https' ? '; Secure' : ''}`

/** The Set-Cookie of a session. It lasts as long as any session can; when this one ends, the server knows. */
export const cookieOf = ({ protocol }: FastifyRequest, token: string): string =>
  `${cookieName(protocol)}=${token}; Max-Age=${longest_ms / 1000}; ${cookieAttributes(protocol)}`

/** The Set-Cookie that takes it back. */
export const noCookie = ({ protocol }: FastifyRequest): string =>
  `${cookieName(protocol)}=; Max-Age=0; ${cookieAttributes(protocol)}`

/** The hook of open routes: no page of another origin may use them, and no cache keeps what they answer. The gate does both for sessions. */
export function atOpenDoor(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  refuseForeign(request)
  reply.header('cache-control', 'no-store')
  done()
}

/** What is kept of the browser that a session is of. */
export const deviceOf = ({ headers, ip }: FastifyRequest): Device => ({
  user_agent: headers['user-agent']?.slice(0, 500).toWellFormed().replaceAll('\0', '') || null,
  address: ip.slice(0, 100),
})

/** Whom failures of signing in are counted by. */
export const addressOf = ({ ip, socket }: FastifyRequest): string => subscriberOf(ip, socket.remoteAddress)
