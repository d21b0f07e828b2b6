import { crc32 } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { sendText, single } from './envelope.ts'

/**
 * The entity tag of a record as GET returns it. It has the time of the last change, if any, and a checksum that
 * includes embedded records.
 */
export function etagOf(record: object, text = JSON.stringify(record)): string {
  const { updated_at = '' } = record as { updated_at?: string }
  return `"${updated_at}${crc32(text).toString(36)}.${text.length.toString(36)}"`
}

const listed = (header: string, etag: string) =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim() === etag)
// A weak tag, such as a compressing proxy makes, may match a read, but not a write (RFC 9110, 13.1).
const weakly = (header: string) => header.replaceAll('W/"', '"')

/** Whether If-None-Match has an entity tag. */
export function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match']
  return known !== undefined && listed(weakly(known), etag)
}

/** Answers a read of one record; 304 when If-None-Match has its current tag. `text` is the record as JSON. */
export function sendRecord(
  request: FastifyRequest,
  reply: FastifyReply,
  record: object,
  text?: string,
  etag = etagOf(record, text),
) {
  reply.header('etag', etag)
  if (isKnown(request, etag)) return reply.code(304).send()
  return text === undefined ? single(record) : sendText(reply, text)
}

/** Refuses a write with If-Match on a resource without an entity tag: nothing matches (RFC 9110, 13.1.1). */
export function refuseMatch({ headers }: FastifyRequest): void {
  if (headers['if-match'] !== undefined)
    throw new ApiError('precondition_failed', 'This resource has no ETag. Leave If-Match out.')
}

/** Refuses a write with 412 when If-Match does not match the current record. */
export const checkMatch = (request: FastifyRequest, record: object): void =>
  refuseStale(request.headers['if-match'], record)

/** Throws 412 when the entity tag of a record is none of those that are wanted. */
export function refuseStale(wanted: string | undefined, record: object): void {
  if (wanted === undefined || listed(wanted, etagOf(record))) return
  throw new ApiError('precondition_failed', 'The record has changed since you read it: read it again.')
}
