import { type SqlBool, sql } from 'kysely'
import type { Static } from 'typebox'
import { day_ms, isoTime } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { choice } from '../../db/lists/filters.ts'
import { newestRows } from '../../db/lists/lists.ts'
import { notFound } from '../../errors.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import type { Context } from '../../events/context.ts'
import { type Access, requireScope } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { checkMatch, refuseMatch } from '../../http/etag.ts'
import { IdParams, NoFields } from '../../http/fields.ts'
import { acceptedCodes, wantedIds } from '../../http/filter-parameters.ts'
import type { Wanted } from '../../http/filter-values.ts'
import { pagesBy } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Room } from '../../resources/room.ts'
import type { WorkSteps } from '../../work/run.ts'
import { finish, mergeWork } from './continue.ts'
import { type MergeKind, mergeKinds } from './links.ts'
import { beginMerge, findRecord } from './merge.ts'
import { MergeBody, Merged, MergesQuery, MergeView, Undone } from './schema.ts'
import { leftOf, type Merge } from './state.ts'
import { beginUndo } from './undo.ts'

const path = '/api/v1/merges'
// Every merge changes contacts: they belong to companies.
const [reads, writes] = ['contacts:read', 'contacts:write'] as const

/** Merges of records, the list of merges, and their undo. */
export function mergeRoutes(app: App, service: Service, rooms: readonly Room[]): void {
  const kinds = mergeKinds(rooms)
  const work = mergeWork(kinds)
  for (const kind of kinds.values()) mergeRoute(app, service, kind, work)
  listRoute(app, service, [...kinds.keys()])
  undoRoute(app, service, kinds, work)
}

/** Throws 403 unless the caller may change the records of the kind, and all that may refer to them. */
function refuseWithout(access: Access, { resource, links }: MergeKind): void {
  const scopes = new Set(
    [resource, ...links.map((link) => link.resource)].map(({ scope }) => `${scope}:write`),
  )
  for (const scope of scopes) requireScope(access, { scope })
}

const whoOf = ({ actor, request_id, traceparent }: Context) => ({
  actor,
  request_id,
  ...(traceparent !== undefined && { traceparent }),
})

function mergeRoute(app: App, { db, clock, write }: Service, kind: MergeKind, work: WorkSteps<string>): void {
  const { resource, details } = kind
  const { table, noun, scope } = resource
  const moved = kind.links.map((link) => link.resource.table.replaceAll('_', ' ')).join(', ')
  operation(
    app,
    {
      method: 'POST',
      path: `${resource.path}/:id/merge`,
      scope: `${scope}:write`,
      summary: `Merge ${table} into this one`,
      description: `The others go to the trash, and what belongs to them moves here: ${moved}. Tags are united, and custom fields are merged key by key. Also needs the write scopes of what moves. GET of a merged ${noun} is 404 with \`merged_into_id\`. 409 while one of the ${table} takes part in another merge. A repeated request has the answer of the first.`,
      params: IdParams,
      body: MergeBody,
      answers: { 200: Merged(details.view) },
      guarded: true,
      conflict: true,
      repeatable: true,
    },
    (request, reply) => {
      refuseWithout(request.access, kind)
      return write.inSteps(request, reply, {
        async before(tx, context, problems) {
          context.source = 'merge'
          const { from_ids = [], fields: wanted = {} } = problems.length
            ? {}
            : (request.body as Static<typeof MergeBody>)
          const asked = { survivor_id: request.params.id, from_ids, wanted }
          const expect = (record: object) => checkMatch(request, record)
          const merge = await beginMerge(tx, context, kind, asked, { problems, expect })
          return { merge, who: whoOf(context) }
        },
        isDone: ({ merge }) => merge.status === 'done',
        meanwhile: ({ merge, who }, stopping) => finish({ db, clock }, work, merge, who, stopping),
        async after(tx, context, { merge }) {
          const record = await findRecord(tx, context, kind, merge.survivor_id)
          if (!record) throw notFound(`This ${noun}`)
          return { record, meta: { merge_id: merge.id } }
        },
      })
    },
  )
}

function undoRoute(
  app: App,
  { db, clock, write, config }: Service,
  kinds: ReadonlyMap<string, MergeKind>,
  work: WorkSteps<string>,
): void {
  operation(
    app,
    {
      method: 'POST',
      path: `${path}/:id/undo`,
      scope: writes,
      summary: 'Undo a merge',
      description: `Restores the merged records, and puts back what the merge changed, where nobody has changed it since. Needs the same scopes as the merge. 409 after ${config.trash_days} days, after an erasure of one of the records, and while the survivor is merged into another record.`,
      params: IdParams,
      body: NoFields,
      answers: { 200: Undone },
      conflict: true,
      repeatable: true,
    },
    (request, reply) =>
      write.inSteps(request, reply, {
        async before(tx, context) {
          context.source = 'merge'
          const { id } = request.params
          const kind = await kindOf(tx, context, kinds, id)
          refuseMatch(request)
          refuseWithout(request.access, kind)
          const merge = await beginUndo(tx, context, kind, id, config.trash_days)
          return { merge, who: whoOf(context) }
        },
        meanwhile: ({ merge, who }, stopping) => finish({ db, clock }, work, merge, who, stopping),
        after: async (tx, _context, { merge }) => ({ body: await undoneAnswer(tx, merge) }),
      }),
  )
}

async function kindOf(
  tx: Tx,
  { workspace_id }: Context,
  kinds: ReadonlyMap<string, MergeKind>,
  id: number,
): Promise<MergeKind> {
  const merge = await tx
    .selectFrom('merges')
    .select('kind')
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  const kind = merge && kinds.get(merge.kind)
  if (!kind) throw notFound('This merge')
  return kind
}

async function undoneAnswer(tx: Tx, { workspace_id, id }: Merge) {
  const { restored } = await tx
    .selectFrom('merges')
    .select('restored')
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirstOrThrow()
  const { left, count } = await leftOf(tx, { workspace_id, id })
  return { success: true as const, data: { restored, left }, meta: { left: count } }
}

const isSurvivor = (survivors: Wanted<number>) =>
  choice(sql.ref('survivor_id'), { ...survivors, missing: sql<SqlBool>`survivor_id IS NULL` }).where

function listRoute(app: App, service: Service, tables: string[]): void {
  const { db, rights, config, clock } = service
  const untilOf = ({ created_at, status, changes }: Pick<Merge, 'created_at' | 'status' | 'changes'>) => {
    const until_ms = Date.parse(created_at) + config.trash_days * day_ms
    return status === 'done' && changes !== null && until_ms >= clock.now() ? isoTime(until_ms) : null
  }
  endpoints(app, service, { path, reads, noun: 'merge' }).list(
    {
      summary: 'List merges',
      description: 'Newest first. Only kinds that the caller may read.',
      query: MergesQuery(tables),
      view: MergeView(tables),
      pages: pagesBy('merges', 'number'),
    },
    async ({ access: { workspace_id, scopes }, query: { kind, record_id } }, { page }) => {
      const kinds = acceptedCodes('kind', tables, kind) ?? tables
      const readable = kinds.filter((table) => rights.mayRead(scopes, table))
      if (!readable.length) return { total: 'after' in page ? null : 0, next: null, records: [] }
      const all = db
        .selectFrom('merges')
        .select(['id', 'kind', 'survivor_id', 'from_ids', 'status', 'changes'])
        .select(['created_at', 'created_by', 'undone_at'])
        .where('workspace_id', '=', workspace_id)
        .where('kind', 'in', readable)
      const survivors = wantedIds('record_id', record_id)
      const found = await newestRows(survivors ? all.where(isSurvivor(survivors)) : all, 'id', page)
      const authors = await namedActors(
        db,
        workspace_id,
        found.records.map(({ created_by }) => actorOf(created_by)),
      )
      const records = found.records.map(({ changes, from_ids, ...merge }, index) => ({
        ...merge,
        from_ids: JSON.parse(from_ids) as number[],
        created_by: authors[index] as (typeof authors)[number],
        undo_until: untilOf({ ...merge, changes }),
      }))
      return { ...found, records }
    },
  )
}
