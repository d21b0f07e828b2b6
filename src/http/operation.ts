import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { refuseMatch } from './etag.ts'
import type { App } from './server.ts'
import { validatorCompiler } from './validation.ts'

/** In place of a scope: everybody may call the operation, without a key or a session. */
export const open_to_all = 'open'

/** The declaration of an endpoint. The service registers and checks the endpoint by it, and the document describes it. */
export type Operation = Declared & (Post | Idempotent)

type Post = {
  method: 'POST'
  /** Takes an Idempotency-Key. False where the body holds a password: not even its hash may be stored. */
  repeatable: boolean
}
type Idempotent = {
  /** A PUT is a PATCH too: absent fields stay unchanged. */
  method: 'GET' | 'DELETE' | readonly ['PUT', 'PATCH']
  repeatable?: never
}
type Declared = {
  /** Such as /api/v1/contacts/:id. */
  path: string
  /** The scope that a key or a role needs, such as contacts:read; `session`: any signed-in person and no key; `open`: everybody. */
  scope: string
  /** Scopes of which any is enough, too. Such an operation answers with what the caller may read. */
  or_scopes?: readonly string[]
  /** Whether keys are refused, beside the scope. */
  people_only?: boolean
  /** Its name in generated clients, where the derived one (openapi/names.ts) is bad English or taken. */
  id?: string
  summary: string
  description?: string
  params?: TSchema
  query?: TSchema
  body?: TSchema
  /** The schema of each answer that is a success, by its status. */
  answers: Record<number, TSchema>
  /** False for an operation of the base interface. All others go beyond it. */
  extension?: boolean
  /** Obeys If-Match: 412 if the record has changed. Other writes act on something without an ETag: 412 to any If-Match. */
  guarded?: boolean
  /** Answers with something that is not a record, such as a number, and so without an ETag. */
  answers_no_record?: boolean
  /** Obeys If-None-Match: 304 if the record is the same. */
  conditional?: boolean
  /** Obeys Last-Event-ID. */
  resumable?: boolean
  /** Answers 409 because of another record, or of the state of this one. */
  conflict?: boolean
  /** Is open, and answers 401 to a wrong password. */
  signs_in?: boolean
  /** Answers until the client goes away: metrics leave out how long it takes. */
  endless?: boolean
  /** Its path holds a secret: the log of requests leaves it out. */
  unlogged?: boolean
  /** The maximum bytes of its body, where it is not that of all operations. */
  max_body_bytes?: number
  /** Checks the body in place of its schema, which then only describes it. */
  checkBody?: (body: unknown) => { value: unknown }
  /** Runs before the body is read. */
  onRequest?: onRequestHookHandler
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
}

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : unknown
type RequestOf<O extends Operation> = {
  Params: StaticOf<O['params']>
  Querystring: StaticOf<O['query']>
  Body: StaticOf<O['body']>
}
type ResponseOf<O extends Operation> = StaticOf<O['answers'][keyof O['answers']]> | FastifyReply

/** Adds an endpoint to the service. In the handler, params, query and body have the types of their schemas. */
export function operation<O extends Operation>(
  app: App,
  declared: O,
  handler: (
    request: FastifyRequest<RequestOf<O>>,
    reply: FastifyReply,
  ) => ResponseOf<O> | Promise<ResponseOf<O>>,
): void {
  const { method, path, unlogged, onRequest, max_body_bytes, checkBody } = declared
  const { summary, description, params, query, body, answers } = declared
  app.route({
    // Hooks compare the method with 'GET': a list of one method would not be equal.
    method: typeof method === 'string' ? method : [...method],
    url: path,
    config: { operation: declared },
    schema: {
      summary,
      ...(description && { description }),
      ...(params && { params }),
      ...(query && { querystring: query }),
      ...(body && { body }),
      response: answers,
    },
    ...(unlogged && { logLevel: 'warn' }),
    ...(onRequest && { onRequest }),
    ...(max_body_bytes && { bodyLimit: max_body_bytes }),
    ...(checkBody && {
      validatorCompiler: (part) => (part.httpPart === 'body' ? checkBody : validatorCompiler(part as never)),
    }),
    handler: (refusesMatch(declared) ? refusing(handler as never) : handler) as never,
  })
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

// A path with parameters may name something that does not exist. Its handler finds that first.
const refusesMatch = ({ method, guarded, path }: Operation): boolean =>
  method !== 'GET' && !guarded && !path.includes(':')

const refusing =
  (handler: Handler): Handler =>
  (request, reply) => {
    refuseMatch(request)
    return handler(request, reply)
  }

/** Collects the operations that are added to the app after this call. */
export function collectOperations(app: App): readonly Operation[] {
  const operations: Operation[] = []
  app.addHook('onRoute', ({ config, method }) => {
    const { operation } = config ?? {}
    if (operation && method !== 'HEAD' && !operations.includes(operation)) operations.push(operation)
  })
  return operations
}
