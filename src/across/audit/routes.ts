import { readPage } from '../../db/lists/lists.ts'
import { invalid } from '../../errors.ts'
import { endpoints } from '../../http/endpoints.ts'
import { IdParams } from '../../http/fields.ts'
import { acceptedCodes, wantedTexts } from '../../http/filter-parameters.ts'
import { pagesBy } from '../../http/lists.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { type AuditPosition, countEntries } from './matching.ts'
import { findEntry, listEntries, withTitles } from './queries.ts'
import { AuditEntry, auditQuery, ListedAuditEntry } from './schema.ts'

/** Reads the audit log. Only changes write it. */
export function auditRoutes(app: App, service: Service): void {
  const { reading, rights, resources } = service
  const entries = endpoints(app, service, {
    path: '/api/v1/audit-log',
    params: IdParams,
    reads: 'audit_log:read',
    noun: 'entry',
  })

  entries.list(
    {
      summary: 'List the audit log',
      description: 'Newest first. Only entries of kinds that the caller may read.',
      query: auditQuery(rights.kinds),
      view: ListedAuditEntry,
      pages: pagesBy('audit_log', 'string', 'number'),
    },
    async ({ access: { workspace_id, scopes }, query }, { page }) => {
      const { record_id, from, to, details } = query
      const asked = acceptedCodes('kind', rights.kinds, query.kind)
      const kinds = asked?.filter((kind) => rights.mayRead(scopes, kind)) ?? rights.readableKinds(scopes)
      const filters = {
        kinds,
        record_id: wantedTexts('record_id', record_id),
        action: wantedTexts('action', query.action),
        actor_id: wantedTexts('actor_id', query.actor_id, { nullable: true }),
        from,
        to,
      }
      if (record_id !== undefined && asked?.length !== 1)
        throw invalid([{ field: 'kind', code: 'required', message: 'record_id needs one kind.' }])
      return reading((db) =>
        readPage(
          page,
          () => countEntries(db, workspace_id, filters),
          async ({ after, ...window }) => {
            const position = after as AuditPosition | null
            const entries = await listEntries(db, workspace_id, filters, { ...window, after: position })
            return details === 'true' ? withTitles(db, workspace_id, resources, entries) : entries
          },
          ({ occurred_at, id }) => [occurred_at, id],
        ),
      )
    },
  )

  entries.read(
    {
      id: 'getAuditLogEntry',
      summary: 'Read an entry of the audit log',
      description: '404 if the caller may not read its kind.',
      view: AuditEntry,
    },
    ({ access: { workspace_id, scopes }, params }) =>
      reading((db) => findEntry(db, workspace_id, rights.readableKinds(scopes), params.id)),
  )
}
