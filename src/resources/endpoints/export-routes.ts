import type { TSchema } from 'typebox'
import type { Db } from '../../db/db.ts'
import type { Found } from '../../db/lists/lists.ts'
import { sortingOf } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { streamSnapshot } from '../../http/snapshots.ts'
import { countExported, type Exported, type ExportFormat, exportList } from '../lists/export.ts'
import { type ListRequest, requestOf } from '../lists/list.ts'
import {
  exportQueryOf,
  type Filters,
  type FilterValues,
  oldest_first,
  ordersOf,
} from '../lists/list-query.ts'
import type { Resource } from '../resource.ts'

const types = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' }
const text = { schema: { type: 'string' } }
// A schema of Fastify, which describes the types of an answer that has no JSON.
const file = {
  description: 'The file.',
  headers: { 'X-Total-Count': { type: 'integer', description: 'The number of records in the file.' } },
  content: { 'text/csv': text, 'application/x-ndjson': text },
} as unknown as TSchema

type ExportRoute<F extends Filters> = Exported & {
  filters: F
  list(db: Db, request: ListRequest<FilterValues<F>>): Promise<Found<unknown>>
}

/** GET of all records of a list as a file, and HEAD of their number. */
export function exportRoute<F extends Filters>(
  app: App,
  { openSnapshot, db, recheckAccess, clock }: Service,
  resource: Resource,
  { filters, list, detailsByIds, lines }: ExportRoute<F>,
): void {
  const { table, path, scope } = resource
  operation(
    app,
    {
      method: 'GET',
      path: `${path}/export`,
      scope: `${scope}:read`,
      summary: `Export ${table}`,
      description:
        'All records that meet the filters, as they were when the export began. Without `sort`, oldest first. `X-Total-Count` has their number, also for HEAD. 503 while too many exports are running.',
      query: exportQueryOf(resource, filters),
      answers: { 200: file },
      endless: true,
    },
    async (asking, reply) => {
      const { access, method, query } = asking
      const { format, sort, ...asked } = query as { format: ExportFormat; sort?: string }
      const request = requestOf(resource, access, asked as FilterValues<F>, clock.now())
      const sorting = sortingOf(ordersOf(resource), sort) ?? oldest_first
      const chosen = { resource, list, detailsByIds, lines, request, sorting }
      const snapshot = await openSnapshot(access.workspace_id)
      try {
        reply.header('x-total-count', await countExported(snapshot.db, chosen))
      } catch (error) {
        await snapshot.close()
        throw error
      }
      reply
        .header('content-type', types[format])
        .header('content-disposition', `attachment; filename="${table}.${format}"`)
        .header('cache-control', 'no-store')
      const content = method === 'HEAD' ? [] : exportList(snapshot.db, chosen, format)
      return reply.send(streamSnapshot(snapshot, content, { recheck: () => recheckAccess(db, asking) }))
    },
  )
}
