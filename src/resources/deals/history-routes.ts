import { cutPage } from '../../db/lists/lists.ts'
import { isLive } from '../../db/references.ts'
import { notFound } from '../../errors.ts'
import { actorOf, type NamedActor, namedActors } from '../../events/actors.ts'
import { List } from '../../http/envelope.ts'
import { IdParams } from '../../http/fields.ts'
import { decodeCursor, wholeMeta } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { countStages, listStages, type StageChange } from './history-queries.ts'
import { StageStay, StagesQuery } from './history-schema.ts'
import type { Stage } from './stages.ts'

const order = 'stages'
// The limit of one answer. The client reads the rest with a cursor.
const max_stages = 2000

/** The stages that a deal has been in. */
export function stageHistoryRoutes(app: App, { db, clock }: Service): void {
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/deals/:id/stages',
      scope: 'deals:read',
      summary: 'List the stages that a deal has been in',
      description: `Oldest first, all on one page, with the time spent in each stage. Above ${max_stages}, the page has only the first. Then \`meta\` has a \`next_cursor\` for the next page, and \`total\` counts all.`,
      params: IdParams,
      query: StagesQuery,
      answers: { 200: List(StageStay) },
    },
    async (request) => {
      const { workspace_id } = request.access
      const { id } = request.params
      if (!(await isLive(db, 'deals', workspace_id, id))) throw notFound('This deal')
      const { cursor } = request.query
      const [after = 0] = decodeCursor(order, cursor, ['number']) ?? []
      const window = { after: Number(after), limit: max_stages + 1 }
      const lines = await listStages(db, workspace_id, id, window)
      const { shown, last } = cutPage(lines, max_stages)
      const actors = shown.map(({ changed_by }) => actorOf(changed_by))
      const stays = staysOf(lines, await namedActors(db, workspace_id, actors), clock.now())
      const position = { cursor, order, next: last ? [last.id] : null }
      const meta = await wholeMeta(stays.length, position, () => countStages(db, workspace_id, id))
      return { success: true as const, data: stays, meta }
    },
  )
}

/** The stays in the stages that these changes entered, one for each of the named actors. */
function staysOf(
  changes: readonly StageChange[],
  actors: readonly NamedActor[],
  now_ms: number,
): StageStay[] {
  return actors.map((changed_by, index) => {
    const { to_stage, from_stage, changed_at } = changes[index] as StageChange
    const left_at = changes[index + 1]?.changed_at ?? null
    const stayed_ms = (left_at === null ? now_ms : Date.parse(left_at)) - Date.parse(changed_at)
    return {
      stage: to_stage as Stage,
      from_stage: from_stage as Stage | null,
      entered_at: changed_at,
      left_at,
      // Another process, whose clock may be ahead of ours, may have written the change.
      duration_seconds: Math.max(0, Math.floor(stayed_ms / 1000)),
      changed_by,
    }
  })
}
