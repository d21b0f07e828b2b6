import type { Reading } from '../db/db.ts'
import { List, list, paging } from '../http/envelope.ts'
import { invalid } from '../http/errors.ts'
import { decodeCursor, encodeCursor } from '../http/lists.ts'
import type { App } from '../http/server.ts'
import { countEntries, listEntries, type Place } from './queries.ts'
import { AuditEntry, AuditQuery } from './schema.ts'

const order = 'audit_log'

/** The audit log, to be read: nothing but the changes themselves writes it. */
export function auditRoutes(app: App, { reading }: { reading: Reading }): void {
  app.get(
    '/api/v1/audit-log',
    {
      config: { scope: 'audit_log:read' },
      schema: {
        'x-extension': true,
        summary: 'List who changed what',
        description: 'Newest first.',
        querystring: AuditQuery,
        response: { 200: List(AuditEntry) },
      },
    },
    (request) => {
      const { workspace_id } = request.access
      const { page: _, per_page: __, cursor, ...filters } = request.query
      if (filters.record_id !== undefined && filters.kind === undefined)
        throw invalid([{ field: 'kind', code: 'required', message: 'kind is required with record_id.' }])
      const asked = paging(request.query)
      const { per_page, offset } = asked
      return reading(async (db) => {
        if (cursor === undefined) {
          const total = await countEntries(db, workspace_id, filters)
          const window = { limit: per_page, offset }
          const entries = offset < total ? await listEntries(db, workspace_id, filters, window) : []
          return list(entries, total, asked)
        }
        const after = decodeCursor(order, cursor, ['string', 'number']) as Place | null
        const entries = await listEntries(db, workspace_id, filters, { limit: per_page + 1, after })
        const data = entries.slice(0, per_page)
        const last = entries.length > per_page ? data.at(-1) : undefined
        const next_cursor = last ? encodeCursor(order, [last.occurred_at, last.id]) : null
        return { success: true as const, data, meta: { per_page, next_cursor } }
      })
    },
  )
}
