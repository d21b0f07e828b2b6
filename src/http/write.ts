import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import type { Seal } from '../db/seal.ts'
import { badRequest, type FieldProblem, invalid } from '../errors.ts'
import { type Context, contextOf } from '../events/context.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import { single } from './envelope.ts'
import { publicError } from './errors.ts'
import { etagOf } from './etag.ts'
import { dropReservation, type Idempotency, keepAnswer, storedAnswer } from './idempotency.ts'
import { extraOf } from './own-calls.ts'
import { traceparentOf } from './trace.ts'
import { bodyProblems } from './validation.ts'
import { createWriteGroups, type Sharing } from './write-groups.ts'

/**
 * The answer of a write: a record (with its ETag), or another body. `location` makes it a 201. `shown` replaces the record
 * when the answer has more than GET returns, such as a secret.
 */
export type Answer = (
  | { record: object; shown?: object; location?: string; meta?: object }
  | { body: object }
) & {
  /** Sent, but not stored for a repeated request. */
  set_cookie?: string
  /** In place of 200, or of 201 with a location. */
  status?: number
}

type Reply = { status: number; headers: Record<string, string>; body: object | string }
export type Work = (tx: Tx, context: Context, problems: readonly FieldProblem[]) => Promise<Answer>

/** A write that waits between two transactions, for example for an HTTP request. */
type Steps<Made> = {
  /** Whether `before` writes nothing, and `meanwhile` can be a dry run. */
  has_dry_run?: boolean
  before(tx: Tx, context: Context, problems: FieldProblem[]): Promise<Made>
  /** Whether `before` did all: then `after` runs in its transaction, and nothing between. */
  isDone?(made: Made): boolean
  /** Throws the reason of `stopping` between two transactions. A repeated request must be able to continue. */
  meanwhile(made: Made, stopping: AbortSignal): Promise<void>
  after(tx: Tx, context: Context, made: Made): Promise<Answer>
}

type Options = {
  large?: boolean
  /** The answer is sent, and the transaction is rolled back. An Idempotency-Key has no effect (decision 0043). */
  dry_run?: boolean
  /** How the write may share a transaction with concurrent ones. */
  sharing?: Sharing
}

export type Writer = {
  (request: FastifyRequest, reply: FastifyReply, work: Work, options?: Options): Promise<never>
  inSteps<Made>(request: FastifyRequest, reply: FastifyReply, steps: Steps<Made>): Promise<never>
}

type Deps = {
  db: Db
  clock: Clock
  seal: Seal
  tracer?: Tracer | null | undefined
  /** Ends writes in steps before a stop closes their connections. */
  stopping?: AbortSignal | undefined
}
const never = new AbortController().signal

/**
 * Runs every write. One transaction stores the change, its events and its answer, so a repeated Idempotency-Key finds
 * all or none of them. Concurrent writes may share it. `problems` are those of the body's schema. The work adds its own problems and throws all
 * together. If the work returns although there are problems, it is rolled back here.
 */
export function createWriter({ db, clock, seal, tracer, stopping = never }: Deps): Writer {
  const contextOfRequest = (request: FastifyRequest): Context => {
    const { access, id, headers } = request
    return contextOf(clock, {
      workspace_id: access.workspace_id,
      actor: access.actor,
      scopes: access.scopes,
      request_id: extraOf(request).request_id ?? id,
      traceparent: traceparentOf(headers),
      change_group: extraOf(request).change_group ?? null,
    })
  }

  const runWrite = createWriteGroups(db)

  const write = async (...[request, reply, work, options = {}]: Parameters<Writer>): Promise<never> => {
    const { large = false, sharing } = options
    const dry_run = options.dry_run || extraOf(request).dry_run
    const idempotency = dry_run ? null : idempotencyOf(request, clock)
    const span = tracer?.start('internal', traceparentOf(request.headers))
    const sent = await runWrite(
      async (tx) => {
        const context = contextOfRequest(request)
        const stored = idempotency && (await storedAnswer(tx, idempotency, seal))
        if (stored) return stored
        const problems = bodyProblems(request.body)
        const answer = await work(tx, context, problems)
        if (problems.length) throw invalid(problems)
        return conclude(tx, reply, answer, idempotency, seal)
      },
      {
        large,
        keeps: () => !dry_run,
        sharing: sharing && !dry_run ? sharedBy(request, sharing, idempotency) : null,
      },
    ).catch((error) => {
      // Not the message: it may quote data.
      const code = publicError(error)?.code ?? 'internal_error'
      span?.end('transaction', { 'error.type': code }, code)
      throw error
    })
    span?.end('transaction')
    return send(reply, sent)
  }

  return Object.assign(write, {
    async inSteps<Made>(request: FastifyRequest, reply: FastifyReply, steps: Steps<Made>): Promise<never> {
      const { dry_run = false } = extraOf(request)
      if (dry_run && !steps.has_dry_run) throw badRequest('This operation has no dry run.')
      const idempotency = dry_run ? null : idempotencyOf(request, clock)
      // Commit the reservation first, so that a repeated request finds the first one in flight.
      const begun = await transaction(db, async (tx) => {
        const stored = idempotency && (await storedAnswer(tx, idempotency, seal))
        if (stored) return { sent: stored, made: null }
        const problems = bodyProblems(request.body)
        const made = await steps.before(tx, contextOfRequest(request), [...problems])
        if (problems.length) throw invalid(problems)
        if (!steps.isDone?.(made)) return { sent: null, made }
        const answer = await steps.after(tx, contextOfRequest(request), made)
        return { sent: await conclude(tx, reply, answer, idempotency, seal), made: null }
      })
      if (begun.sent) return send(reply, begun.sent)
      const { made } = begun
      try {
        stopping.throwIfAborted()
        await steps.meanwhile(made, stopping)
        const sent = await transaction(db, async (tx) => {
          const answer = await steps.after(tx, contextOfRequest(request), made)
          return conclude(tx, reply, answer, idempotency, seal)
        })
        return send(reply, sent)
      } catch (error) {
        const onError = (err: unknown) =>
          request.log.error({ err, request_id: request.id }, 'an idempotency key could not be freed')
        if (idempotency) await dropReservation(db, idempotency, onError)
        throw error
      }
    },
  })
}

/** How a write shares a transaction; null for its own transaction, because it will be rolled back. */
function sharedBy(
  request: FastifyRequest,
  sharing: Sharing,
  idempotency: Idempotency | null,
): Sharing | null {
  if (bodyProblems(request.body).length) return null
  if (!idempotency) return sharing
  const { key_id, path, idempotency_key } = idempotency
  return { ...sharing, records: [...sharing.records, `${key_id} ${path} ${idempotency_key}`] }
}

// Builds the answer inside of the transaction that stores it.
async function conclude(
  tx: Tx,
  reply: FastifyReply,
  answer: Answer,
  idempotency: Idempotency | null,
  seal: Seal,
): Promise<Reply> {
  const headers: Record<string, string> = {}
  if ('record' in answer) headers.etag = etagOf(answer.record)
  if ('location' in answer && answer.location) headers.location = answer.location
  const status = answer.status ?? (headers.location ? 201 : 200)
  const { meta = undefined } = 'record' in answer ? answer : {}
  const body =
    'record' in answer ? { ...single(answer.shown ?? answer.record), ...(meta && { meta }) } : answer.body
  const unkept: Record<string, string> = answer.set_cookie ? { 'set-cookie': answer.set_cookie } : {}
  if (!idempotency) return { status, headers: { ...headers, ...unkept }, body }
  reply.code(status)
  const kept = { status, headers, body: reply.serialize(body) as string }
  keepAnswer(tx, idempotency, kept, seal)
  return { ...kept, headers: { ...headers, ...unkept } }
}

function send(reply: FastifyReply, { status, headers, body }: Reply): never {
  reply.code(status).headers(headers)
  if (typeof body === 'string') reply.type('application/json; charset=utf-8')
  // Fastify accepts the sent reply as the handler's result.
  return reply.send(body) as never
}

function idempotencyOf(request: FastifyRequest, clock: Clock): Idempotency | null {
  const { workspace_id, id: key_id } = request.access
  const key = request.method === 'POST' ? request.headers['idempotency-key'] : undefined
  if (key === undefined || !request.routeOptions.config.operation?.repeatable) return null
  return {
    workspace_id,
    key_id,
    now_ms: clock.elapsed(),
    idempotency_key: String(key),
    path: pathOf(request),
    // Parameters say what happens to the body: the same file may be tried, or imported as another resource.
    body_hash: createHash('sha256')
      .update(queryOf(request))
      .update(request.raw_body ?? '')
      .digest('hex'),
  }
}

/** The parameters and a line break, or nothing: no byte of one request belongs to the body of another. */
const queryOf = ({ url }: FastifyRequest): string =>
  url.includes('?') ? `${url.slice(url.indexOf('?'))}\n` : ''

// Build the path from the route and its parameters: /api/v1/contact%73 and /api/v1/contacts are the same path.
function pathOf({ routeOptions: { url = '' }, params }: FastifyRequest): string {
  const named = params as Record<string, unknown>
  return url.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(String(named[name])))
}
