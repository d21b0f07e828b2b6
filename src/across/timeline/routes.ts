import { isLive } from '../../db/references.ts'
import { List } from '../../http/envelope.ts'
import { notFound } from '../../http/errors.ts'
import { IdParams } from '../../http/fields.ts'
import { decodeCursor, encodeCursor } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listTimeline, type Place, type Views } from './entries.ts'
import { type EntryType, entry_types, TimelineEntry, TimelineQuery } from './schema.ts'
import type { Owner } from './sources.ts'

const order = 'timeline'
const parts = ['string', 'number', 'number'] as const
const resources: Record<EntryType, Owner | 'activities' | 'appointments' | null> = {
  change: null,
  note: 'contacts',
  activity: 'activities',
  appointment: 'appointments',
  deal: 'deals',
  stage_change: 'deals',
}
const nouns: Record<Owner, string> = { contacts: 'contact', companies: 'company', deals: 'deal' }

/** What happened with a contact, a company or a deal, newest first. How records are shown arrives as an argument. */
export function timelineRoutes(app: App, { reading }: Service, views: Views): void {
  for (const [owner, noun] of Object.entries(nouns) as [Owner, string][])
    operation(
      app,
      {
        method: 'GET',
        path: `/api/v1/${owner}/:id/timeline`,
        scope: `${owner}:read`,
        summary: `List what happened with a ${noun}`,
        description:
          'Newest first, by cursor only; a page of long notes ends early. What the key may not read by itself (activities, appointments, deals, notes) is left out.',
        params: IdParams,
        query: TimelineQuery,
        answers: { 200: List(TimelineEntry) },
        extension: true,
      },
      (request) => {
        const { workspace_id, scopes } = request.access
        // A timeline is no way around a scope.
        const types = entry_types.filter(
          (type) => !scopes || scopes.includes(`${resources[type] ?? owner}:read`),
        )
        const { id: owner_id } = request.params
        const per_page = Math.min(request.query.per_page, 100)
        return reading(async (db) => {
          if (!(await isLive(db, owner, workspace_id, owner_id))) throw notFound(`This ${noun}`)
          const after = decodeCursor(order, request.query.cursor ?? '', parts) as Place | null
          const of = { workspace_id, owner, owner_id, types }
          const { entries, next } = await listTimeline(db, views, of, { per_page, after })
          const next_cursor = next && encodeCursor(order, next)
          return { success: true as const, data: entries, meta: { per_page, next_cursor } }
        })
      },
    )
}
