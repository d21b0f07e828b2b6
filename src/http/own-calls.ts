import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { stopped } from '../errors.ts'
import type { App } from './server.ts'

// A request of the service to its own API, on behalf of a caller. It passes the same gate, checks and limits as any other.

/** Values that the service adds to such a request. */
export type Extra = {
  /** The group of its changes in the audit log. */
  change_group?: string | null
  /** The id of the request that it is part of, for the audit log. */
  request_id?: string
  /** Answers as usual, but writes nothing. */
  dry_run?: boolean
  /** The tags of a change are added to those of the record. By default they replace them. */
  adds_tags?: boolean
  /** The rate limit has counted it already, as the request that it is part of. */
  counted?: boolean
}

const header = 'rapport-own-call'
// The header names an entry, which exists during the call only. Nobody else can guess it.
const extras = new Map<string, Extra>()

/** The values that the service added to a request; empty for requests of clients. */
export const extraOf = ({ headers }: FastifyRequest): Extra => extras.get(String(headers[header])) ?? {}

/** Whether a request is such a call. */
export const isOwnCall = ({ headers }: FastifyRequest): boolean => extras.has(String(headers[header]))

export type OwnCall = { method: string; path: string; body?: unknown; headers?: Record<string, string> }

/** An answer: its status, its ETag, and its JSON. */
// biome-ignore lint/suspicious/noExplicitAny: its form depends on the operation
export type OwnAnswer = { status: number; etag: string | undefined; body: any }

const forwarded = [
  'authorization',
  'cookie',
  'rapport-place',
  'origin',
  'sec-fetch-site',
  'host',
  'traceparent',
]

/** Calls an operation of the API with the credential of a request. */
export async function callAs(
  app: App,
  { id: request_id, headers: given, ip }: FastifyRequest,
  { method, path, body, headers }: OwnCall,
  extra: Extra = {},
): Promise<OwnAnswer> {
  const id = randomUUID()
  extras.set(id, { request_id, ...extra })
  const kept = forwarded.flatMap((name) => (given[name] === undefined ? [] : [[name, String(given[name])]]))
  try {
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      remoteAddress: ip,
      headers: { ...Object.fromEntries(kept), ...headers, [header]: id },
      ...(body !== undefined && { payload: body as object }),
    })
    return {
      status: answer.statusCode,
      etag: answer.headers.etag as string | undefined,
      body: answer.json(),
    }
  } catch (error) {
    // A stop closes the app while the request that calls is still running.
    if ((error as { code?: string }).code === 'FST_ERR_REOPENED_CLOSE_SERVER') throw stopped()
    throw error
  } finally {
    extras.delete(id)
  }
}
