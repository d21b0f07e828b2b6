import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Clock, isoTime } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import type { Seal } from '../db/seal.ts'
import type { Context } from '../events/context.ts'
import { single } from './envelope.ts'
import { type FieldProblem, invalid } from './errors.ts'
import { etagOf } from './etag.ts'
import { type Idempotency, keepAnswer, storedAnswer } from './idempotency.ts'
import { bodyProblems } from './validation.ts'

/** What a write answers: a record (with its ETag), or another body; `location` makes it a 201. */
export type Answer = { record: object; location?: string } | { body: object }

export type Writer = (
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Db, context: Context, problems: FieldProblem[]) => Promise<Answer>,
) => Promise<never>

/**
 * The way of every writing request: one transaction for the change, its events and its stored answer, so that a
 * repeated Idempotency-Key finds either all of them or none. `problems` are those of the body's schema: the work adds
 * what it finds itself and throws all at once; work that ends in spite of problems is rolled back here.
 */
export function createWriter(db: Db, clock: Clock, seal: Seal): Writer {
  return async (request, reply, work) => {
    const now_ms = clock.now()
    const { workspace_id, key_id } = request.access
    const context: Context = { workspace_id, key_id, now: isoTime(now_ms), now_ms }
    const idempotency = idempotencyOf(request, context)
    const answered = await transaction(db, async (tx) => {
      const stored = idempotency && (await storedAnswer(tx, idempotency, seal))
      if (stored) return stored
      const problems = bodyProblems(request.body)
      const answer = await work(tx, context, problems)
      if (problems.length) throw invalid(problems)
      const headers: Record<string, string> = {}
      if ('record' in answer) headers.etag = etagOf(answer.record)
      if ('location' in answer && answer.location) headers.location = answer.location
      const status = headers.location ? 201 : 200
      reply.code(status)
      const body = 'record' in answer ? single(answer.record) : answer.body
      if (!idempotency) return { status, headers, body }
      const made = { status, headers, body: reply.serialize(body) as string }
      await keepAnswer(tx, idempotency, made, seal)
      return made
    })
    reply.code(answered.status).headers(answered.headers)
    if (typeof answered.body === 'string') reply.type('application/json; charset=utf-8')
    // Fastify takes the sent reply as the handler's answer.
    return reply.send(answered.body) as never
  }
}

function idempotencyOf(
  request: FastifyRequest,
  { workspace_id, key_id, now_ms }: Context,
): Idempotency | null {
  const key = request.method === 'POST' ? request.headers['idempotency-key'] : undefined
  if (key === undefined) return null
  return {
    workspace_id,
    key_id,
    now_ms,
    idempotency_key: String(key),
    path: request.url.split('?')[0] as string,
    body_hash: hash('sha256', request.raw_body ?? ''),
  }
}
