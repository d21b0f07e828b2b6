import type { Static } from 'typebox'
import { changeWork, lockWork } from '../../db/work.ts'
import { conflict } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import { Deleted, Single, single } from '../../http/envelope.ts'
import { checkMatch } from '../../http/etag.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Room } from '../../resources/room.ts'
import { WebhookParams } from '../../webhooks/registration/schema.ts'
import {
  change,
  existingWebhook,
  webhook_kind,
  webhookToChange,
} from '../../webhooks/registration/webhooks.ts'
import { finishWork, lease_ms } from '../../work/run.ts'
import { backfillWork } from './run.ts'
import { BackfillBody, BackfillView } from './schema.ts'
import { backfillKinds, countLeft, findBackfill, insertBackfill } from './state.ts'

const none = { kinds: [], since: null, total: 0, sent: 0, finished_at: null }

function shown(
  { state, created_at }: { state: string; created_at: string | null },
  { kinds, since, total, sent, finished_at }: Omit<BackfillView, 'status' | 'started_at'>,
): BackfillView {
  const status = state as BackfillView['status']
  return { status, kinds, since, total, sent, started_at: created_at, finished_at }
}

/** Sends the present records to a webhook: starts, shows and stops a backfill. */
export function backfillRoutes(app: App, service: Service, rooms: readonly Room[]): void {
  const { db, clock, write, rights } = service
  const kinds = backfillKinds(rooms)
  const work = backfillWork(rooms)
  const body = BackfillBody([...kinds.keys()])
  const path = `${webhook_kind.path}/:webhook_id/backfill`
  const shared = { path, params: WebhookParams } as const

  operation(
    app,
    {
      ...shared,
      method: 'POST',
      scope: webhook_kind.writes,
      summary: 'Send the present records to a webhook',
      description:
        'Each record is sent as its `.created` event with `source: "backfill"`, whatever events the webhook has. The feed has none of them. A change of a record during the backfill has a larger `sequence` than the state that was sent before it. 409 while a backfill is running.',
      body,
      answers: { 202: Single(BackfillView) },
      repeatable: true,
      guarded: true,
      answers_no_record: true,
      conflict: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const expect = (webhook: object) => checkMatch(request, webhook)
        const sent = { request, params: request.params, problems, expect }
        const { id: webhook_id } = await webhookToChange(tx, rights, sent)
        const { kinds: named = [], since = null } = request.body as Static<typeof body>
        const asked = [...new Set(named)]
        const events = asked.flatMap((kind) => kinds.get(kind)?.event.name ?? [])
        rights.refuseUnreadable(request.access.scopes, events)
        const last = await findBackfill(tx, context.workspace_id, webhook_id)
        if (last?.state === 'running')
          throw conflict(
            'backfill_running',
            'A backfill of this webhook is running. Stop it first, or wait for its end.',
          )
        // DELETE also cancels the deliveries of a backfill that has ended.
        const is_stopping = last?.state === 'cancelled' || (last?.lease_ends_ms ?? null) !== null
        if (last && is_stopping && (await countLeft(tx, last)))
          throw conflict('backfill_stopping', 'The last backfill is being stopped. Try again in a second.')
        const begun = await insertBackfill(tx, context, { webhook_id, kinds: asked, since })
        const after = { kinds: asked, since, total: begun.total }
        recordChange(tx, context, { ...change('backfill_started', webhook_id), after })
        return { body: single(shown({ state: 'running', created_at: context.now }, begun)), status: 202 }
      }),
  )

  operation(
    app,
    {
      ...shared,
      method: 'GET',
      scope: webhook_kind.reads,
      summary: 'Read the progress of the newest backfill',
      answers: { 200: Single(BackfillView) },
    },
    async ({ access: { workspace_id }, params: { webhook_id } }) => {
      await existingWebhook(db, workspace_id, webhook_id)
      const found = await findBackfill(db, workspace_id, webhook_id)
      return single(found ? shown(found, found.position) : shown({ state: 'none', created_at: null }, none))
    },
  )

  operation(
    app,
    {
      ...shared,
      method: 'DELETE',
      scope: webhook_kind.writes,
      summary: 'Stop a backfill, and cancel its deliveries that wait',
      description: '200 also if no backfill is running: it may have ended meanwhile.',
      answers: { 200: Deleted },
      guarded: true,
    },
    (request, reply) =>
      write.inSteps(request, reply, {
        async before(tx, context, problems) {
          const expect = (webhook: object) => checkMatch(request, webhook)
          const sent = { request, params: request.params, problems, expect }
          const { id: webhook_id } = await webhookToChange(tx, rights, sent)
          const { workspace_id, now } = context
          const left = { workspace_id, subject: webhook_id }
          // A step of it ends first.
          await lockWork(tx, workspace_id, 'backfill', webhook_id)
          const found = await findBackfill(tx, workspace_id, webhook_id)
          const lease_ends_ms = context.elapsed() + lease_ms
          if (found?.state !== 'running') {
            if (found) await changeWork(tx, found, { lease_ends_ms })
            return { left, message: 'No backfill is running.' }
          }
          const after = { count: await countLeft(tx, found) }
          const position = { ...found.position, finished_at: now }
          await changeWork(tx, found, { state: 'cancelled', position, lease_ends_ms })
          recordChange(tx, context, { ...change('backfill_stopped', webhook_id), after })
          return { left, message: 'The backfill was stopped.' }
        },
        // After a crash or a stop of the service, another process continues what was stopped.
        meanwhile: ({ left }, stopping) => finishWork({ db, clock }, work, left, stopping),
        after: async (_tx, _context, { message }) => ({ body: { success: true as const, message } }),
      }),
  )
}
