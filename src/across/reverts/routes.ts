import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { type Tx, transaction } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { notFound, refuseMore } from '../../errors.ts'
import { contextOf } from '../../events/context.ts'
import { prepareEmit } from '../../events/emit.ts'
import { requireScope } from '../../http/auth.ts'
import { Single, single } from '../../http/envelope.ts'
import { publicError } from '../../http/errors.ts'
import { refuseMatch } from '../../http/etag.ts'
import { NoFields, Titled } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import { extraOf } from '../../http/own-calls.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Item } from '../../resources/batch/items.ts'
import { putBack, reasonOf, writtenFields } from '../../resources/batch/undo.ts'
import type { Room } from '../../resources/room.ts'
import { changesOfGroup, groupOfRevert, max_changes, type RecordChanges, wasChangedSince } from './changes.ts'

const Params = Type.Object({ group_id: Type.String({ description: 'The `group_id` of audit entries.' }) })
const Left = Titled('NotReverted', { kind: Type.String(), id: Type.Integer(), reason: Type.String() })
type Left = Static<typeof Left>
const Reverted = Titled('Reverted', {
  restored: Type.Integer({ description: 'The number of records that are as they were before the group.' }),
  left: Type.Array(Left, { description: 'Records that stay as they are, with the reason.' }),
  group_id: Type.String({ description: 'The group of these changes: revert it to take the revert back.' }),
})

/** POST that reverts the changes of a group of the audit log, such as those of one session of an assistant. */
export function revertRoute(app: App, { db, clock, rights, write }: Service, rooms: readonly Room[]): void {
  const kinds = new Map<string, Room>(rooms.map((room) => [room.resource.table, room]))
  const [scope = '', ...or_scopes] = [...new Set(rooms.map(({ resource }) => `${resource.scope}:write`))]

  operation(
    app,
    {
      method: 'POST',
      path: '/api/v1/audit-log/groups/:group_id/revert',
      id: 'revertChangeGroup',
      scope,
      or_scopes,
      summary: 'Revert a group of changes',
      description: `Deletes what the group created, restores what it deleted, and puts back the fields that it changed, record by record, as single requests of the caller would. A record that was changed later stays. At most ${max_changes} changes.`,
      params: Params,
      body: NoFields,
      answers: { 200: Single(Reverted) },
      conflict: true,
      repeatable: true,
    },
    (request, reply) =>
      write.inSteps(request, reply, {
        has_dry_run: true,
        async before(tx, { workspace_id, actor, scopes = null, request_id, traceparent = null }) {
          const { group_id } = request.params
          const { records: all, count } = await changesOfGroup(tx, workspace_id, group_id)
          // As in the audit log, the caller learns nothing of other kinds.
          const records = all.filter(({ kind }) => rights.mayRead(scopes, kind))
          if (!records.length) throw notFound('This group of changes')
          refuseMatch(request)
          const limit = `A group has at most ${max_changes} changes`
          refuseMore('too_many_changes', count - 1, max_changes, limit, 'Revert the records one by one.')
          const change_group = groupOfRevert(group_id)
          const author = { workspace_id, actor, scopes, request_id, traceparent, change_group }
          return { records, author, left: [] as Left[], restored: 0 }
        },
        async meanwhile(work, stopping) {
          for (const record of work.records) {
            stopping.throwIfAborted()
            const room = kinds.get(record.kind)
            const reason = room ? await revert(reply, work.author, room, record) : 'not_a_record'
            if (reason) work.left.push({ kind: record.kind, id: record.id, reason })
            else work.restored++
          }
        },
        after: async (_tx, _context, { restored, left }) => ({
          body: single({ restored, left, group_id: groupOfRevert(request.params.group_id) }),
        }),
      }),
  )

  /** Reverts the changes of a record; returns the reason if it cannot, otherwise null. */
  async function revert(
    reply: FastifyReply,
    author: Author,
    room: Room,
    record: RecordChanges,
  ): Promise<string | null> {
    const { request } = reply
    const { dry_run = false } = extraOf(request)
    const { table, scope, columns, events } = room.resource
    /** Runs items, all or none. Each counts as a request. A trial takes them back. */
    const attempt = async (items: Item[], is_trial: boolean): Promise<Tried> => {
      await reply.countMore(items.length)
      const work = async (tx: Tx) => {
        prepareEmit(tx, author.workspace_id, events)
        await lockRow(tx, table, author.workspace_id, record.id, 'removal')
        // Read after the lock, so a change that comes meanwhile is found, or waits.
        if (await wasChangedSince(tx, author.workspace_id, record)) return { reason: 'changed_since' }
        if (items.length) requireScope(request.access, { scope: `${scope}:write` })
        const { outcomes, left } = await putBack(tx, contextOf(clock, author), room, items, true)
        const { op, error, after } = outcomes.at(-1) ?? {}
        // A first run, which a stop ended, has moved it there.
        const is_in_trash = op === 'delete' && error?.code === 'not_found' && items[0]?.op !== 'restore'
        return { reason: is_in_trash ? null : (left.get(record.id) ?? null), after }
      }
      return transaction(db, work, { keeps: ({ reason }) => !reason && !is_trial })
    }
    const written = writtenFields(room)
    const fields = Object.entries(record.before).filter(([name]) => written.includes(name))
    // These follow from others, such as a default.
    const derived = fields.filter(([name]) => columns[name]?.stored === false)
    const plain = fields.filter((field) => !derived.includes(field))
    try {
      // A default that is back by itself must not become the record's own value. The trial shows the defaults.
      const tried = derived.length ? await attempt(itemsOf(record, plain), true) : null
      if (tried?.reason) return tried.reason
      const shown = (tried?.after ?? {}) as Record<string, unknown>
      const differing = derived.filter(([name, value]) => shown[name] !== value)
      // The first change ignores a probability that the deal shows before it, such as that of its closed stage.
      const items = itemsOf(record, [...plain, ...differing], differing)
      return (await attempt(items, dry_run)).reason
    } catch (error) {
      const known = publicError(error)
      if (!known) throw error
      return reasonOf(known)
    }
  }
}

type Author = Parameters<typeof contextOf>[1]
type Tried = { reason: string | null; after?: object | null | undefined }
type Values = [string, unknown][]

/** The items that revert the changes of a record, with the values that it gets back. None: it is as it was before them. */
function itemsOf({ id, actions }: RecordChanges, ...values: Values[]): Item[] {
  const puts = values.flatMap((some): Item[] =>
    some.length ? [{ op: 'update', id, data: Object.fromEntries(some) }] : [],
  )
  const moves = actions.filter((action) => action === 'deleted' || action === 'restored')
  const [was_deleted, is_deleted] = [moves[0] === 'restored', moves.at(-1) === 'deleted']
  if (actions[0] === 'created') return is_deleted ? [] : [{ op: 'delete', id }]
  if (was_deleted && is_deleted && !puts.length) return []
  return [
    ...(is_deleted ? [{ op: 'restore', id } as const] : []),
    ...puts,
    ...(was_deleted ? [{ op: 'delete', id } as const] : []),
  ]
}
