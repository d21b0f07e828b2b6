import type { Static, TSchema } from 'typebox'
import { definitionsOf } from '../../custom-fields/definitions.ts'
import type { Db } from '../../db/db.ts'
import type { Found } from '../../db/lists/lists.ts'
import type { Texts } from '../../db/statements/json-text.ts'
import { readSubscribers } from '../../events/emit.ts'
import type { Access } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { sendRecord } from '../../http/etag.ts'
import { IdParams, NoFields } from '../../http/fields.ts'
import { listingOf } from '../../http/lists.ts'
import { extraOf } from '../../http/own-calls.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Sharing } from '../../http/write-groups.ts'
import { addTags } from '../batch/items.ts'
import type { Exported } from '../lists/export.ts'
import { type ListRequest, requestOf } from '../lists/list.ts'
import { type Filters, type FilterValues, listQueryOf, ordersOf } from '../lists/list-query.ts'
import type { Resource } from '../resource.ts'
import { type Change, type Create, existing, type Remove, type Restore } from '../writing/operations.ts'
import type { Records } from '../writing/records.ts'
import { exportRoute } from './export-routes.ts'
import { groupRoute, type OwnFilters } from './group-routes.ts'

// The endpoints of a resource, as its description declares them.

type Identified = { id: number }

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

const endpointsOf = (app: App, service: Service, { path, scope, extension, noun }: Resource) =>
  endpoints(app, service, {
    path,
    params: IdParams,
    reads: `${scope}:read`,
    writes: `${scope}:write`,
    noun,
    extension,
  })

type ListRoute<F extends Filters> = {
  /** The filters that only this list has. */
  filters: F
  /** The list view. */
  view: TSchema
  list(db: Db, request: ListRequest<FilterValues<F>>): Promise<Found<Texts>>
  /** Reads the detail views, for the export of the list. Without it, the list has no export. */
  exported?: Exported
  /** Makes these filters. Without it, the list has no groups. */
  ownFilters?: OwnFilters<F>
}

/** GET of the list, of its export, and of its groups. */
export function listRoute<F extends Filters>(
  app: App,
  service: Service,
  resource: Resource,
  { filters, view, list, exported, ownFilters }: ListRoute<F>,
): void {
  if (ownFilters) groupRoute(app, service, resource, filters, ownFilters)
  if (exported) exportRoute(app, service, resource, { filters, list, ...exported })
  const { reading, clock } = service
  const { table } = resource
  const orders = ordersOf(resource)
  const query = listQueryOf(resource, filters) as TSchema
  const pages = (query: unknown) => listingOf(query as Parameters<typeof listingOf>[0], table, orders)
  endpointsOf(app, service, resource).list(
    { summary: `List ${table.replaceAll('_', ' ')}`, query, view, pages },
    ({ access, query }, listing) => {
      const asked = requestOf(resource, access, query as FilterValues<F>, clock.now())
      const request = { ...asked, listing }
      return reading((db) => list(db, request))
    },
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

/** Adds verbs to the records of a resource, such as POST /complete. */
export const verbsOf =
  (app: App, service: Service, resource: Resource) =>
  <Body extends TSchema>(verb: Verb<Body>, run: Change<Identified, Static<Body>>): void =>
    endpointsOf(app, service, resource).verb(verb, async (tx, context, { params, body, ...sent }) => ({
      record: await run(tx, context, params.id, body, sent),
    }))

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
  const add = verbsOf(app, service, resource)
  add(verb, (tx, context, id, _body, sent) => restore(tx, context, id, sent))
}

type Readable = Pick<Records<Identified, object>, 'resource' | 'text'>

type Schemas<New extends TSchema, Update extends TSchema> = {
  view: TSchema
  create: New
  update: Update
  /** Texts for the API's documentation, for operations that do more than the standard ones. */
  descriptions?: { create?: string; update?: string }
  /** A change can be refused because of another record. */
  conflict?: boolean
  /** Concurrent requests may share a transaction: the operations run in bulk, as those of a batch do. */
  in_bulk?: boolean
}

/** Requests that write records of a resource share transactions, unless they change the same record. */
const sharingOf =
  (resource: Resource) =>
  ({ access, params }: { access: Pick<Access, 'workspace_id'>; params: unknown }): Sharing => {
    const { workspace_id } = access
    const { id } = params as { id?: number }
    return {
      lane: `${workspace_id} ${resource.table}`,
      records: id === undefined ? [] : [String(id)],
      prepare(tx) {
        readSubscribers(
          tx,
          workspace_id,
          resource.events.map(({ name }) => name),
        )
        // Read them now, so that a request which they refuse has not written yet.
        return definitionsOf(tx, workspace_id, resource)
      },
    }
  }

/** The endpoints that every resource has, beside its list and its verbs: read, create, change and delete. */
export function recordRoutes<New extends TSchema, Update extends TSchema>(
  app: App,
  service: Service,
  { resource, text }: Readable,
  { view, create, update, descriptions = {}, conflict = false, in_bulk = false }: Schemas<New, Update>,
  operations: {
    create: Create<Identified, Static<New> & object>
    change: Change<Identified, Static<Update> & object>
    remove: Remove<Identified>
  },
): void {
  const a_record = withArticle(resource.noun)
  const records = endpointsOf(app, service, resource)
  const shares = in_bulk ? sharingOf(resource) : undefined
  records.create(
    { summary: `Create ${a_record}`, description: descriptions.create, body: create, view, shares },
    async (tx, context, { body, problems }) => ({
      record: await operations.create(tx, context, body as Static<New> & object, problems),
    }),
  )
  records.change(
    { summary: `Change ${a_record}`, description: descriptions.update, body: update, view, conflict, shares },
    async (tx, context, { params, body, request, ...sent }) => {
      const changes = body as Static<Update> & object
      const expect = (record: object) => {
        sent.expect(record)
        if (extraOf(request).adds_tags) addTags(update, changes, record, sent.problems)
      }
      return { record: await operations.change(tx, context, params.id, changes, { ...sent, expect }) }
    },
  )
  records.read(
    { summary: `Read ${a_record}`, view },
    ({ access, params }) => existing(service.db, { resource, find: text }, access.workspace_id, params.id),
    (request, reply, record) => sendRecord(request, reply, record, record.text),
  )
  records.remove(
    { summary: `Move ${a_record} to the trash`, shares },
    async (tx, context, { params, expect }) => {
      await operations.remove(tx, context, params.id, expect)
    },
  )
}
