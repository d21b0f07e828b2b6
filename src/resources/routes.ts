import type { Static, TSchema } from 'typebox'
import { isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { Deleted, deleted, List, Single } from '../http/envelope.ts'
import { checkMatch, sendRecord } from '../http/etag.ts'
import { IdParams, NoFields } from '../http/fields.ts'
import { listAnswer, listingOf } from '../http/lists.ts'
import { operation } from '../http/operation.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { type Asked, type Listed, ordersOf } from './list.ts'
import { type Change, type Create, existing, type Remove, type Restore } from './operations.ts'
import type { Resource } from './resource.ts'

// The endpoints of a resource. Each is one piece that every resource uses.

type Identified = { id: number }

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

type ListRoute<Query extends TSchema, View> = {
  query: Query
  /** The list view. */
  view: TSchema
  list(db: Db, asked: Asked<Static<Query>>): Promise<Listed<View>>
}

/** GET of the list. */
export function listRoute<Query extends TSchema, View>(
  app: App,
  { reading, clock }: Service,
  resource: Resource,
  { query: schema, view, list }: ListRoute<Query, View>,
): void {
  const { path, scope, extension, table } = resource
  const orders = ordersOf(resource)
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: `${scope}:read`,
      summary: `List ${table.replaceAll('_', ' ')}`,
      query: schema as TSchema,
      answers: { 200: List(view) },
      extension,
    },
    async ({ access, query }) => {
      const listing = listingOf(query as Parameters<typeof listingOf>[0], table, orders)
      const asked = {
        workspace_id: access.workspace_id,
        query: query as Static<Query>,
        listing,
        now: isoTime(clock.now()),
      }
      const { records, ...found } = await reading((db) => list(db, asked))
      return listAnswer(records, found, listing) as never
    },
  )
}

type Finder = {
  resource: Resource
  find(db: Db, workspace_id: number, id: number): Promise<Identified | null>
}

/** GET of one record. */
export function readRoute(app: App, { db }: Service, records: Finder, view: TSchema): void {
  const { path, scope, extension, noun } = records.resource
  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:id`,
      scope: `${scope}:read`,
      summary: `Read ${withArticle(noun)}`,
      params: IdParams,
      answers: { 200: Single(view) },
      extension,
      conditional: true,
    },
    async (request, reply) =>
      sendRecord(
        request,
        reply,
        await existing(db, records, request.access.workspace_id, request.params.id),
      ) as never,
  )
}

type BodyRoute<Body extends TSchema> = { body: Body; view: TSchema; description?: string }

/** POST of a new record. */
export function createRoute<Body extends TSchema>(
  app: App,
  { write }: Service,
  { path, scope, extension, noun }: Resource,
  { body, view, description }: BodyRoute<Body>,
  create: Create<Identified, Static<Body> & object>,
): void {
  operation(
    app,
    {
      method: 'POST',
      path,
      scope: `${scope}:write`,
      summary: `Create ${withArticle(noun)}`,
      ...(description && { description }),
      body: body as TSchema,
      answers: { 201: Single(view) },
      extension,
      repeatable: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const record = await create(tx, context, request.body as Static<Body> & object, problems)
        return { record, location: `${path}/${record.id}` }
      }),
  )
}

/** PUT and PATCH of a record: the fields that are sent change. */
export function changeRoute<Body extends TSchema>(
  app: App,
  { write }: Service,
  { path, scope, extension, noun }: Resource,
  { body, view, description, conflict }: BodyRoute<Body> & { conflict?: boolean },
  change: Change<Identified, Static<Body> & object>,
): void {
  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path: `${path}/:id`,
      scope: `${scope}:write`,
      summary: `Change ${withArticle(noun)}`,
      ...(description && { description }),
      params: IdParams,
      body: body as TSchema,
      answers: { 200: Single(view) },
      extension,
      guarded: true,
      ...(conflict && { conflict }),
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const expect = (record: object) => checkMatch(request, record)
        const sent = { problems, expect }
        const { body, params } = request as { body: Static<Body> & object; params: Identified }
        return { record: await change(tx, context, params.id, body, sent) }
      }),
  )
}

/** DELETE of a record, which moves it to the trash. */
export function deleteRoute(
  app: App,
  { write }: Service,
  { path, scope, extension, noun }: Resource,
  remove: Remove<Identified>,
): void {
  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:id`,
      scope: `${scope}:write`,
      summary: `Move ${withArticle(noun)} to the trash`,
      params: IdParams,
      answers: { 200: Deleted },
      extension,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        await remove(tx, context, request.params.id, (record) => checkMatch(request, record))
        return { body: deleted(`The ${noun}`) }
      }),
  )
}

type Verb<Body extends TSchema> = {
  /** The last part of the path, such as complete. */
  name: string
  summary: string
  description?: string
  body: Body
  view: TSchema
  extension?: boolean
}

/** POST of a verb to a record, such as /complete. */
export function verbRoute<Body extends TSchema>(
  app: App,
  { write }: Service,
  resource: Resource,
  { name, summary, description, body, view, extension = resource.extension }: Verb<Body>,
  run: Change<Identified, Static<Body>>,
): void {
  operation(
    app,
    {
      method: 'POST',
      path: `${resource.path}/:id/${name}`,
      scope: `${resource.scope}:write`,
      summary,
      ...(description && { description }),
      params: IdParams,
      body: body as TSchema,
      answers: { 200: Single(view) },
      extension,
      repeatable: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const expect = (record: object) => checkMatch(request, record)
        const { body, params } = request as { body: Static<Body>; params: Identified }
        return { record: await run(tx, context, params.id, body, { problems, expect }) }
      }),
  )
}

/** POST that brings a record back from the trash. */
export function restoreRoute(
  app: App,
  service: Service,
  resource: Resource,
  view: TSchema,
  restore: Restore<Identified>,
): void {
  const summary = `Restore ${withArticle(resource.noun)} from the trash`
  const verb = { name: 'restore', summary, body: NoFields, view, extension: true }
  verbRoute(app, service, resource, verb, (tx, context, id, _body, sent) => restore(tx, context, id, sent))
}

type Schemas<New extends TSchema, Update extends TSchema> = {
  view: TSchema
  create: New
  update: Update
  /** What the operations do beside the usual. */
  descriptions?: { create?: string; update?: string }
  /** A change can be refused because of another record. */
  conflict?: boolean
}

/** The endpoints that every resource has, beside its list and its verbs: read, create, change and delete. */
export function recordRoutes<New extends TSchema, Update extends TSchema>(
  app: App,
  service: Service,
  records: Finder,
  { view, create, update, descriptions = {}, conflict = false }: Schemas<New, Update>,
  operations: {
    create: Create<Identified, Static<New> & object>
    change: Change<Identified, Static<Update> & object>
    remove: Remove<Identified>
  },
): void {
  const { resource } = records
  const creating = { body: create, view, ...(descriptions.create && { description: descriptions.create }) }
  const changing = { body: update, view, ...(descriptions.update && { description: descriptions.update }) }
  createRoute(app, service, resource, creating, operations.create)
  changeRoute(app, service, resource, { ...changing, conflict }, operations.change)
  readRoute(app, service, records, view)
  deleteRoute(app, service, resource, operations.remove)
}
