import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Tx } from '../db/db.ts'
import type { Found } from '../db/lists/lists.ts'
import type { Texts } from '../db/statements/json-text.ts'
import { type FieldProblem, orNotFound } from '../errors.ts'
import type { Context } from '../events/context.ts'
import type { Access } from './auth.ts'
import { Deleted, deleted, List, type paging, Single } from './envelope.ts'
import { checkMatch, sendRecord } from './etag.ts'
import { type Listing, pagesBy, sendPage } from './lists.ts'
import { type Operation, operation } from './operation.ts'
import type { App } from './server.ts'
import type { Service } from './service.ts'
import type { Answer, Work } from './write.ts'
import type { Sharing } from './write-groups.ts'

/** The settings that all endpoints of a kind of record share. */
type Kind<Params extends TSchema, OwnerParams extends TSchema> = {
  /** The path of the list. That of a record ends with its parameter. */
  path: string
  /** The parameters of `path`, such as the contact of notes. */
  owner_params?: OwnerParams
  /** The last one names a record. Without it, `path` is that of the only record, such as the own profile. */
  params?: Params
  /** The scope of the endpoints that read. */
  reads: string
  /** Scopes of which any is enough to read, too. */
  or_reads?: readonly string[]
  /** The scope of the endpoints that write. By default, the same. */
  writes?: string
  noun: string
} & Pick<Operation, 'extension'>

type Declared = Pick<Operation, 'id' | 'summary' | 'description' | 'conflict' | 'people_only' | 'extension'>
type Request<Params = unknown, Query = unknown, Body = unknown> = FastifyRequest & {
  params: Params
  query: Query
  body: Body
}

/** A request that writes, as its operation sees it. */
export type Incoming<Params = unknown, Body = unknown, Prepared = unknown> = {
  request: FastifyRequest
  params: Params
  body: Body
  /** The schema's problems of the body. */
  problems: readonly FieldProblem[]
  /** Checks the record that the caller wants to change (If-Match). Throws 412 for another version. */
  expect(record: object): void
  /** Reads the current access of the caller. Call it after the locks. Throws 401 or 403. */
  recheck(): Promise<Access>
  /** The result of `prepare`. */
  prepared: Prepared
}

/** A write in its transaction. */
type Run<Params, Body, Prepared, Result = Answer> = (
  tx: Tx,
  context: Context,
  incoming: Incoming<Params, Body, Prepared>,
) => Promise<Result>

/** The steps of a write outside of its transaction. */
type Around<Params, Body, Prepared> = {
  /** Runs before the transaction, for what takes long, such as checking a password. */
  prepare?(request: Request<Params, unknown, Body>): Promise<Prepared>
  /** How concurrent requests may share a transaction. Without it, each has its own. */
  shares?(request: Request<Params, unknown, Body>): Sharing
  /** Runs after the commit. */
  committed?(request: Request<Params>): void
}
type Write<Params, Body extends TSchema, Prepared> = Declared &
  Around<Params, Static<Body>, Prepared> & { body: Body; view: TSchema } & Partial<
    Pick<Operation, 'repeatable' | 'guarded' | 'answers_no_record'>
  >
type Made = { shown?: object; set_cookie?: string } & (
  | { record: { id: number | string }; location?: undefined }
  | { record: object; location: string }
)
type Pages = Pick<Listing, 'order' | 'page'>
type Numbered = { order: string; page: ReturnType<typeof paging> }

const writeHandler =
  <Params, Body, Prepared>(
    { write, recheckAccess }: Service,
    { prepare, shares, committed }: Around<Params, Body, Prepared>,
    run: Run<Params, Body, Prepared>,
  ) =>
  async (request: Request<Params, unknown, Body>, reply: FastifyReply) => {
    const prepared = (await prepare?.(request)) as Prepared
    const work: Work = (tx, context, problems) => {
      const { params, body } = request
      const expect = (record: object) => checkMatch(request, record)
      const recheck = () => recheckAccess(tx, request)
      return run(tx, context, { request, params, body, problems, expect, recheck, prepared })
    }
    const sent = await write(request, reply, work, { sharing: shares?.(request) })
    committed?.(request)
    return sent
  }

/** The endpoints of a kind of record. Each function adds one. */
export function endpoints<Schema extends TSchema, OwnerSchema extends TSchema>(
  app: App,
  service: Service,
  { path, owner_params, params, reads, or_reads, writes = reads, noun, extension }: Kind<Schema, OwnerSchema>,
) {
  type Params = Static<Schema>
  type OwnerParams = Static<OwnerSchema>
  const reading = { scope: reads, ...(or_reads && { or_scopes: or_reads }) }
  const parameter = Object.keys((params as { properties?: object } | undefined)?.properties ?? {}).at(-1)
  const record_path = parameter ? `${path}/:${parameter}` : path

  // The types of the handler are those of the schemas, which are not known here.
  const add = (declared: Operation, handler: (request: never, reply: FastifyReply) => unknown) =>
    operation(app, declared, handler as never)

  const addWrite = <Params, Body, Prepared>(
    declared: Partial<Operation>,
    { prepare, shares, committed, ...more }: Partial<Operation> & Around<Params, Body, Prepared>,
    run: Run<Params, Body, Prepared>,
  ) =>
    add(
      { scope: writes, extension, ...declared, ...more } as Operation,
      writeHandler(service, { prepare, shares, committed }, run),
    )

  return {
    /** GET of a page of records. By default, the list has no cursor. */
    list<Query extends TSchema, View extends TSchema, P extends Pages = Numbered>(
      declared: Declared & { query: Query; view: View; pages?: (query: Static<Query>) => P },
      read: (request: Request<unknown, Static<Query>>, asked: P) => Promise<Found<Static<View>[] | Texts>>,
    ): void {
      const { view, pages = pagesBy('') as never, ...more } = declared
      const answers = { 200: List(view) }
      add(
        { method: 'GET', path, ...reading, answers, extension, ...more },
        async (request: Request<unknown, Static<Query>>, reply) => {
          const asked = pages(request.query)
          return sendPage(reply, await read(request, asked), asked)
        },
      )
    },

    /** GET of a record. 404 if it is null. `send` is given for a record that is JSON text. */
    read<View extends TSchema, Found extends object = Static<View> & object>(
      { view, ...declared }: Declared & { view: View },
      find: (request: Request<Params>) => Promise<Found | null>,
      send: (request: FastifyRequest, reply: FastifyReply, record: Found) => unknown = sendRecord,
    ): void {
      const answers = { 200: Single(view) }
      const shared = { path: record_path, ...reading, params, answers, extension }
      add(
        { method: 'GET', ...shared, conditional: true, ...declared },
        async (request: Request<Params>, reply) =>
          send(request, reply, orNotFound(noun, await find(request))),
      )
    },

    /** POST of a new record. */
    create<Body extends TSchema, Prepared>(
      { view, ...declared }: Write<OwnerParams, Body, Prepared>,
      run: Run<OwnerParams, Static<Body>, Prepared, Made>,
    ): void {
      const answers = { 201: Single(view) }
      const shared = { method: 'POST', path, ...(owner_params && { params: owner_params }) } as const
      addWrite({ ...shared, answers, repeatable: true }, declared, async (...args) => {
        const made = await run(...args)
        return made.location === undefined ? { ...made, location: `${path}/${made.record.id}` } : made
      })
    },

    /** PUT and PATCH of a record: the fields that are sent change. */
    change<Body extends TSchema, Prepared>(
      { view, ...declared }: Write<Params, Body, Prepared>,
      run: Run<Params, Static<Body>, Prepared>,
    ): void {
      const answers = { 200: Single(view) }
      const method = ['PUT', 'PATCH'] as const
      addWrite({ method, path: record_path, params, answers, guarded: true }, declared, run)
    },

    /** DELETE of a record. */
    remove(
      declared: Declared & Pick<Operation, 'query'> & Around<Params, unknown, unknown>,
      run: Run<Params, unknown, unknown, void> | Run<Params, unknown, unknown, { set_cookie?: string }>,
    ): void {
      const answers = { 200: Deleted }
      const method = 'DELETE'
      addWrite({ method, path: record_path, params, answers, guarded: true }, declared, async (...args) => ({
        ...((await run(...args)) ?? {}),
        body: deleted(`The ${noun}`),
      }))
    },

    /** POST of a verb to a record, such as /restore. */
    verb<Body extends TSchema, Prepared>(
      { name, view, ...declared }: Write<Params, Body, Prepared> & { name: string },
      run: Run<Params, Static<Body>, Prepared>,
    ): void {
      const answers = { 200: Single(view) }
      const verb_path = `${record_path}/${name}`
      const safety = { repeatable: true, guarded: true }
      addWrite({ method: 'POST', path: verb_path, params, answers, ...safety }, declared, run)
    },
  }
}
