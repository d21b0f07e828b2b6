import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { notFound, refuseMore } from '../../errors.ts'
import { Single, single } from '../../http/envelope.ts'
import { refuseMatch } from '../../http/etag.ts'
import { NoFields } from '../../http/fields.ts'
import { type Operation, operation } from '../../http/operation.ts'
import { callAs, extraOf } from '../../http/own-calls.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { changesOfGroup, groupOfRevert, max_changes, type RecordChanges, wasChangedSince } from './changes.ts'

const Params = Type.Object({ group_id: Type.String({ description: 'The `group_id` of audit entries.' }) })
const Left = Type.Object(
  { kind: Type.String(), id: Type.Integer(), reason: Type.String() },
  { title: 'NotReverted' },
)
type Left = Static<typeof Left>
const Reverted = Type.Object(
  {
    restored: Type.Integer({ description: 'The number of records that are as they were before the group.' }),
    left: Type.Array(Left, { description: 'Records that stay as they are, with the reason.' }),
    group_id: Type.String({ description: 'The group of these changes: revert it to take the revert back.' }),
  },
  { title: 'Reverted' },
)

type RevertRequest = FastifyRequest & { params: Static<typeof Params> }

const max_tries = 3
const overtaken = new Set(['precondition_failed', 'not_found'])

/** POST that reverts the changes of a group of the audit log, such as those of one session of an assistant. */
export function revertRoute(
  app: App,
  { db, resources, rights, write }: Service,
  operations: readonly Operation[],
): void {
  const places = new Map<string, Pick<Place, 'path' | 'writable' | 'derived'>>(
    resources.map(({ table, path, columns }) => {
      const derived = Object.keys(columns).filter((name) => columns[name]?.stored === false)
      return [table, { path, writable: writableOf(operations, path), derived }]
    }),
  )
  const owners = Object.fromEntries(
    resources.flatMap(({ table, part_of }) => (part_of ? [[table, part_of.by]] : [])),
  )
  const [scope = '', ...or_scopes] = [...new Set(resources.map(({ scope }) => `${scope}:write`))]

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
      extension: true,
      conflict: true,
      repeatable: true,
    },
    (request, reply) =>
      write.inSteps(request, reply, {
        has_dry_run: true,
        async before(tx, { workspace_id, scopes = null }) {
          const { records: all, count } = await changesOfGroup(
            tx,
            { workspace_id, change_group: request.params.group_id },
            owners,
          )
          // As in the audit log, the caller learns nothing of other kinds.
          const records = all.filter(({ kind }) => rights.mayRead(scopes, kind))
          if (!records.length) throw notFound('This group of changes')
          refuseMatch(request)
          const limit = `A group has at most ${max_changes} changes`
          refuseMore('too_many_changes', count - 1, max_changes, limit, 'Revert the records one by one.')
          return { records, left: [] as Left[], restored: 0 }
        },
        async meanwhile(work, stopping) {
          for (const record of work.records) {
            stopping.throwIfAborted()
            const reason = await revert(request, record)
            if (reason) work.left.push({ kind: record.kind, id: record.id, reason })
            else work.restored++
          }
        },
        after: async (_tx, _context, { restored, left }) => ({
          body: single({ restored, left, group_id: groupOfRevert(request.params.group_id) }),
        }),
      }),
  )

  async function revert(request: RevertRequest, record: RecordChanges): Promise<string | null> {
    let reason = await tryRevert(request, record)
    // The same revert in another request may have changed the record meanwhile. It is then found as in a repeated revert.
    for (let tries = 1; tries < max_tries && overtaken.has(String(reason)); tries++)
      reason = await tryRevert(request, record)
    return reason === 'precondition_failed' ? 'changed_since' : reason
  }

  async function tryRevert(request: RevertRequest, record: RecordChanges): Promise<string | null> {
    const place = places.get(record.kind)
    if (!place) return 'not_a_record'
    // The version is read before the audit log. So a change after the read of the log is refused.
    const read = { method: 'GET', path: addressOf(place.path, record) }
    const { status, etag, body } = await callAs(app, request, read)
    // A record in the trash is 404.
    if (status >= 300 && status !== 404) return reasonOf(body)
    const { workspace_id } = request.access
    const { group_id } = request.params
    if (await wasChangedSince(db, { workspace_id, change_group: group_id }, record)) return 'changed_since'
    const change_group = groupOfRevert(group_id)
    return revertRecord(app, request, { ...place, change_group, etag }, record)
  }
}

/** The fields that PUT of a record takes, by the path of the list. */
function writableOf(operations: readonly Operation[], path: string): string[] {
  const put = operations.find((one) => one.method.includes('PUT') && one.path.replace(/\/:\w+$/, '') === path)
  const { properties = {} } = (put?.body ?? {}) as { properties?: Record<string, { readOnly?: boolean }> }
  return Object.keys(properties).filter((name) => !properties[name]?.readOnly)
}

type Place = {
  path: string
  writable: readonly string[]
  /** Fields that follow from others, such as a default. */
  derived: readonly string[]
  change_group: string
  /** The version of the record that may be changed; undefined in the trash. */
  etag: string | undefined
}

const addressOf = (path: string, { id, owner_id }: RecordChanges): string =>
  `${owner_id === null ? path : path.replace(':id', String(owner_id))}/${id}`

/**
 * Reverts the changes of a record; returns the reason if it cannot, otherwise null. A dry run tries the first request only,
 * because the next one needs its change.
 */
async function revertRecord(
  app: App,
  request: FastifyRequest,
  { path, writable, derived, change_group, etag }: Place,
  record: RecordChanges,
): Promise<string | null> {
  const { actions, before } = record
  const one = addressOf(path, record)
  const { dry_run = false } = extraOf(request)
  let version = etag
  let is_tried = false
  let shown: Record<string, unknown> = {}
  const call = async (method: string, url: string, body?: object, is_trial = false) => {
    if (dry_run && is_tried) return null
    is_tried ||= !is_trial
    const headers: Record<string, string> = version === undefined ? {} : { 'if-match': version }
    const sent = { method, path: url, headers, ...(body && { body }) }
    const answer = await callAs(app, request, sent, { change_group, dry_run: dry_run || is_trial })
    if (answer.status >= 300) return reasonOf(answer.body)
    if (!is_trial) version = answer.etag
    shown = answer.body.data ?? {}
    return null
  }
  const fields = Object.entries(before).filter(([name]) => writable.includes(name))
  const moves = actions.filter((action) => action === 'deleted' || action === 'restored')
  const [was_deleted, is_deleted] = [moves[0] === 'restored', moves.at(-1) === 'deleted']
  const ends_in_trash = was_deleted || actions[0] === 'created'
  // A first run, which a stop ended, has moved it there.
  if (ends_in_trash && !is_deleted && etag === undefined) return null
  if (actions[0] === 'created') return is_deleted ? null : call('DELETE', one)
  if (was_deleted && is_deleted && !fields.length) return null
  const not_restored = is_deleted ? await call('POST', `${one}/restore`) : null
  if (not_restored) return not_restored
  const put = async (sent: typeof fields, is_trial = false) =>
    sent.length ? call('PUT', one, Object.fromEntries(sent), is_trial) : null
  const plain = fields.filter(([name]) => !derived.includes(name))
  const of_derived = fields.filter(([name]) => derived.includes(name))
  // A default that is back by itself must not become the record's own value. The trial shows the defaults. A second PUT
  // could be refused, and leave the record half reverted.
  const refused = of_derived.length ? await put(plain, true) : null
  const differing = () => of_derived.filter(([name, value]) => shown[name] !== value)
  // The first PUT ignores a probability that the deal shows before it, such as that of its closed stage.
  const not_changed = refused ?? (await put([...plain, ...differing()])) ?? (await put(differing()))
  // A restored record whose old values are refused goes back to the trash, so that nothing of it is reverted.
  const not_deleted = (not_changed ? is_deleted : was_deleted) ? await call('DELETE', one) : null
  return not_changed ?? not_deleted
}

const reasonOf = (body: { error?: { code?: string; fields?: { code: string }[] } }): string =>
  body.error?.fields?.[0]?.code ?? body.error?.code ?? 'failed'
