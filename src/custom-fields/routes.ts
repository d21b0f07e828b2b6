import type { Static } from 'typebox'
import { type Access, requireScope } from '../http/auth.ts'
import { endpoints } from '../http/endpoints.ts'
import { Single } from '../http/envelope.ts'
import { checkMatch } from '../http/etag.ts'
import { IdParams } from '../http/fields.ts'
import { acceptedCodes } from '../http/filter-parameters.ts'
import { operation } from '../http/operation.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { checkBegun } from './check.ts'
import { hasDefinitions } from './definitions.ts'
import {
  type Begun,
  beginChange,
  beginDefinition,
  completeDefinition,
  deleteDefinition,
} from './operations.ts'
import { findDefinition, listDefinitions } from './queries.ts'
import { definitionSchemas, ForceQuery, max_definitions } from './schema.ts'

const about_existing =
  `Existing values are checked first. 409 with the number of those that break the definition; \`force=true\`
accepts it, and leaves these values alone until they change. New values obey the definition from the start of the check.`.replaceAll(
    '\n',
    ' ',
  )

/** The definitions of custom fields. */
export function customFieldRoutes(app: App, service: Service): void {
  const { db, reading, write, resources, rights, clock } = service
  const defined = resources.filter(hasDefinitions)
  const tables = defined.map(({ table }) => table)
  const { CustomField, CustomFieldCreate, CustomFieldUpdate, CustomFieldsQuery } =
    definitionSchemas(resources)
  const kind = {
    path: '/api/v1/custom-fields',
    params: IdParams,
    reads: 'workspace:read',
    // A reader of a kind of record sees its custom fields.
    or_reads: defined.map((resource) => `${resource.scope}:read`),
    writes: 'workspace:write',
    noun: 'custom field',
  }
  const { path, params, writes: scope } = kind
  const definitions = endpoints(app, service, kind)

  /** The kinds of which the caller may read the definitions. Throws 403 if none of `wanted` is among them. */
  const kindsFor = (access: Access, wanted?: readonly string[]): string[] => {
    const { scopes } = access
    const some = defined.filter(({ table }) => wanted?.includes(table) ?? true)
    const readable = some.filter(
      ({ table }) => rights.mayRead(scopes, 'custom_fields') || rights.mayRead(scopes, table),
    )
    const [hidden] = readable.length ? [] : some
    if (hidden) requireScope(access, { scope: `${hidden.scope}:read`, or_scopes: [kind.reads] })
    return readable.map(({ table }) => table)
  }

  type Forced = { query: Static<typeof ForceQuery> }
  const check = ({ query }: Forced, begun: Begun, stopping: AbortSignal) =>
    checkBegun(db, clock, begun, {
      is_forced: query.force === 'true',
      hold: async () => stopping.throwIfAborted(),
    })

  definitions.list(
    {
      summary: 'List custom fields',
      description:
        'In the order of their positions. Without `workspace:read`, those of kinds that the caller may read.',
      query: CustomFieldsQuery,
      view: CustomField,
    },
    (request, { page }) => {
      const kinds = kindsFor(request.access, acceptedCodes('resource', tables, request.query.resource))
      return reading((db) => listDefinitions(db, request.access.workspace_id, kinds, page))
    },
  )
  definitions.read({ summary: 'Read a custom field', view: CustomField }, async (request) => {
    const found = await findDefinition(db, request.access.workspace_id, request.params.id)
    if (found) kindsFor(request.access, [found.resource])
    return found
  })
  operation(
    app,
    {
      method: 'POST',
      path,
      scope,
      summary: 'Define a custom field',
      description: `${about_existing} 409 above ${max_definitions} of a resource.`,
      query: ForceQuery,
      body: CustomFieldCreate,
      answers: { 201: Single(CustomField) },
      repeatable: true,
    },
    (request, reply) =>
      write.inSteps<Begun>(request, reply, {
        before: (tx, context, problems) => beginDefinition(tx, context, request.body, problems),
        meanwhile: (begun, stopping) => check(request, begun, stopping),
        after: async (tx, context, begun) => ({
          record: await completeDefinition(tx, context, begun),
          location: `${path}/${begun.id}`,
        }),
      }),
  )
  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path: `${path}/:id`,
      scope,
      params,
      summary: 'Change a custom field',
      description: about_existing,
      query: ForceQuery,
      body: CustomFieldUpdate,
      answers: { 200: Single(CustomField) },
      guarded: true,
      conflict: true,
    },
    (request, reply) =>
      write.inSteps<Begun>(request, reply, {
        before: (tx, context, problems) =>
          beginChange(tx, context, request.params.id, request.body, {
            problems,
            expect: (record) => checkMatch(request, record),
          }),
        meanwhile: (begun, stopping) => check(request, begun, stopping),
        after: async (tx, context, begun) => ({ record: await completeDefinition(tx, context, begun) }),
      }),
  )
  definitions.remove(
    {
      summary: 'Delete a custom field',
      description: 'The definition is removed for good. The values stay in the records.',
    },
    (tx, context, { params, expect }) => deleteDefinition(tx, context, params.id, expect),
  )
}
