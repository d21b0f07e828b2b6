import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { single } from './envelope.ts'
import { ApiError } from './errors.ts'

/** The entity tag of a record as GET shows it. */
export const etagOf = (record: object): string => `"${hash('sha1', JSON.stringify(record), 'base64url')}"`

const listed = (header: string, etag: string) =>
  header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)

/** Answers a read of one record, or 304 when the caller has it already (If-None-Match). */
export function sendRecord<T extends object>(request: FastifyRequest, reply: FastifyReply, record: T) {
  const etag = etagOf(record)
  reply.header('etag', etag)
  const known = request.headers['if-none-match']
  if (known && listed(known, etag)) return reply.code(304).send() as never
  return single(record)
}

/** Refuses a write with 412 when If-Match names another state of the record than the current one. */
export function checkMatch(request: FastifyRequest, record: object): void {
  const wanted = request.headers['if-match']
  if (wanted === undefined || listed(wanted, etagOf(record))) return
  throw new ApiError('precondition_failed', 'The record has changed since you read it: read it again.')
}
