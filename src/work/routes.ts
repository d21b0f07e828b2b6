import { momentOf, shownTime } from '../clock.ts'
import { newestRows } from '../db/lists/lists.ts'
import { work_kinds } from '../db/work-table.ts'
import { actorOf, namedActors } from '../events/actors.ts'
import { endpoints } from '../http/endpoints.ts'
import { acceptedCodes } from '../http/filter-parameters.ts'
import { pagesBy } from '../http/lists.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { WorkQuery, WorkView } from './schema.ts'

const columns = ['id', 'kind', 'subject', 'state', 'attempts', 'last_error', 'created_at'] as const

/** The list of unfinished work, for administrators. */
export function workRoutes(app: App, service: Service): void {
  const { reading, clock } = service
  const shown = { path: '/api/v1/work', reads: 'audit_log:read', noun: 'work' } as const
  endpoints(app, service, shown).list(
    {
      summary: 'List unfinished work',
      description:
        'Work that requests have left for the background, such as the rest of a resend. Newest first.',
      query: WorkQuery,
      view: WorkView,
      pages: pagesBy('work', 'string'),
    },
    ({ access: { workspace_id }, query }, { page }) =>
      reading(async (db) => {
        const all = db
          .selectFrom('work')
          .select([...columns, 'actor', 'lease_ends_ms'])
          .where('workspace_id', '=', workspace_id)
          .where('lease_ends_ms', 'is not', null)
          .where('kind', 'in', acceptedCodes('kind', work_kinds, query.kind) ?? work_kinds)
        const found = await newestRows(all, 'id', page)
        const authors = await namedActors(
          db,
          workspace_id,
          found.records.map(({ actor }) => actorOf(actor)),
        )
        const moment = momentOf(clock)
        const records = found.records.map(({ actor: _, lease_ends_ms, ...work }, index) => ({
          ...work,
          leased_until:
            Number(lease_ends_ms) > moment.elapsed_ms ? shownTime(Number(lease_ends_ms), moment) : null,
          created_by: authors[index] as (typeof authors)[number],
        }))
        return { ...found, records }
      }),
  )
}
