import { cutPage } from '../../db/lists/lists.ts'
import { invalid, orNotFound } from '../../errors.ts'
import { List, Single } from '../../http/envelope.ts'
import { sendRecord } from '../../http/etag.ts'
import { IdParams } from '../../http/fields.ts'
import { pageAnswer, pageOf } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { countEntries, type Place } from './matching.ts'
import { findEntry, listEntries } from './queries.ts'
import { AuditEntry, auditQuery, ListedAuditEntry } from './schema.ts'

const path = '/api/v1/audit-log'
const scope = 'audit_log:read'
const order = 'audit_log'

/** The audit log, to be read: nothing but the changes themselves writes it. */
export function auditRoutes(app: App, { reading, rights }: Service): void {
  operation(
    app,
    {
      method: 'GET',
      path,
      scope,
      summary: 'List who changed what',
      description: 'Newest first, of kinds that the key may read.',
      query: auditQuery(rights.kinds),
      answers: { 200: List(ListedAuditEntry) },
      extension: true,
    },
    (request) => {
      const { workspace_id, scopes } = request.access
      const { kind, record_id, action, actor_id, from, to } = request.query
      const kinds =
        kind === undefined
          ? rights.readableKinds(scopes)
          : [kind].filter((one) => rights.mayRead(scopes, one))
      const filters = { kinds, record_id, action, actor_id, from, to }
      if (record_id !== undefined && kind === undefined)
        throw invalid([{ field: 'kind', code: 'required', message: 'kind is required with record_id.' }])
      const page = pageOf(request.query, order, ['string', 'number'])
      return reading(async (db) => {
        if ('offset' in page) {
          const total = await countEntries(db, workspace_id, filters)
          const window = { limit: page.per_page, offset: page.offset }
          const entries = page.offset < total ? await listEntries(db, workspace_id, filters, window) : []
          return pageAnswer(entries, { total, next: null }, order, page)
        }
        const window = { limit: page.per_page + 1, after: page.after as Place | null }
        const { shown, last } = cutPage(await listEntries(db, workspace_id, filters, window), page.per_page)
        const next = last ? [last.occurred_at, last.id] : null
        return pageAnswer(shown, { total: null, next }, order, page)
      })
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:id`,
      scope,
      summary: 'Read an entry of the audit log',
      description: 'Of a kind that the key may read.',
      params: IdParams,
      answers: { 200: Single(AuditEntry) },
      extension: true,
      conditional: true,
    },
    async (request, reply) => {
      const { workspace_id, scopes } = request.access
      const kinds = rights.readableKinds(scopes)
      const entry = await reading((db) => findEntry(db, workspace_id, kinds, request.params.id))
      return sendRecord(request, reply, orNotFound('entry', entry))
    },
  )
}
