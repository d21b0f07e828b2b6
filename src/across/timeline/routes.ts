import { isLive } from '../../db/references.ts'
import { notFound } from '../../errors.ts'
import { List, sendText } from '../../http/envelope.ts'
import { IdParams } from '../../http/fields.ts'
import { decodeCursor, encodeCursor } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listTimeline, type TimelinePosition } from './entries.ts'
import { TimelineQuery, timelineEntry } from './schema.ts'
import { change, sourcesOf, type TimelineRoom } from './sources.ts'

const order = 'timeline'
const parts = ['string', 'number', 'number'] as const

/** The timeline of a record, newest first, for each resource that has timelines. */
export function timelineRoutes(
  app: App,
  { reading, resources }: Service,
  rooms: readonly TimelineRoom[],
): void {
  const others = rooms.flatMap(({ entries }) => entries ?? [])
  const answer = List(timelineEntry(resources, [...others, change]))
  const shown = resources.flatMap(({ timeline, table }) => (timeline ? [table] : [])).sort()
  for (const owner of resources.filter(({ has_timeline }) => has_timeline)) {
    const { table, path, scope, noun } = owner
    const sources = sourcesOf(owner, rooms)
    operation(
      app,
      {
        method: 'GET',
        path: `${path}/:id/timeline`,
        scope: `${scope}:read`,
        summary: `List the timeline of a ${noun}`,
        description: `Newest first, with a cursor only. A page of long notes ends early. Kinds that the caller may not read (of ${shown.join(', ')}) are left out.`,
        params: IdParams,
        query: TimelineQuery,
        answers: { 200: answer },
      },
      (request, reply) => {
        const { workspace_id, scopes } = request.access
        // Show only entries that the scopes of the caller may read.
        const readable = sources.filter(({ scope }) => !scopes || scopes.includes(`${scope}:read`))
        const { id: owner_id } = request.params
        const per_page = Math.min(request.query.per_page, 100)
        return reading(async (db) => {
          if (!(await isLive(db, table, workspace_id, owner_id))) throw notFound(`This ${noun}`)
          const after = decodeCursor(order, request.query.cursor, parts) as TimelinePosition | null
          const of = { workspace_id, owner_id }
          const { entries, next } = await listTimeline(db, readable, of, { per_page, after })
          const next_cursor = next && encodeCursor(order, next)
          return sendText(reply, `[${entries.join()}]`, { per_page, next_cursor })
        })
      },
    )
  }
}
