import type { Db } from '../db/db.ts'
import { isLive } from '../db/references.ts'
import { actorOf, namedActors } from '../events/actors.ts'
import { List, list } from '../http/envelope.ts'
import { notFound } from '../http/errors.ts'
import { IdParams } from '../http/fields.ts'
import type { App } from '../http/server.ts'
import { listStages } from './history-queries.ts'
import { StageStay } from './history-schema.ts'
import type { Stage } from './stages.ts'

/** The stages that a deal has been in; `now` is the service's time in milliseconds. */
export function stageHistoryRoutes(app: App, { db, now }: { db: Db; now: () => number }): void {
  app.get(
    '/api/v1/deals/:id/stages',
    {
      config: { scope: 'deals:read' },
      schema: {
        'x-extension': true,
        summary: 'List the stages that a deal has been in',
        description: 'Oldest first, on one page, with the time spent in each.',
        params: IdParams,
        response: { 200: List(StageStay) },
      },
    },
    async (request) => {
      const { workspace_id } = request.access
      const { id } = request.params
      if (!(await isLive(db, 'deals', workspace_id, id))) throw notFound('This deal')
      const lines = await listStages(db, workspace_id, id)
      const named = await namedActors(
        db,
        workspace_id,
        lines.map(({ changed_by }) => actorOf(changed_by)),
      )
      const now_ms = now()
      const stays = lines.flatMap(({ to_stage, from_stage, changed_at }, index): StageStay[] => {
        const changed_by = named[index]
        const left_at = lines[index + 1]?.changed_at ?? null
        const stayed_ms = (left_at === null ? now_ms : Date.parse(left_at)) - Date.parse(changed_at)
        // The clock that is asked now may be another process's, a little behind.
        const duration_seconds = Math.max(0, Math.floor(stayed_ms / 1000))
        const stage = { stage: to_stage as Stage, from_stage: from_stage as Stage | null }
        return changed_by ? [{ ...stage, entered_at: changed_at, left_at, duration_seconds, changed_by }] : []
      })
      return list(stays, stays.length, { page: 1, per_page: Math.max(1, stays.length) })
    },
  )
}
