import type { TSchema } from 'typebox'
import type { Db } from '../db/db.ts'
import { lockRow } from '../db/locks.ts'
import { type Deletable, deletedAt, moveRecord } from '../db/records.ts'
import { type Referable, referenceProblems } from '../db/references.ts'
import { factsOf, recordChange, sidesOf } from '../events/audit.ts'
import { changesBetween } from '../events/changes.ts'
import type { Context } from '../events/context.ts'
import type { Changes, EventDefinition } from '../events/define.ts'
import { emit } from '../events/emit.ts'
import { Deleted, deleted, Single } from './envelope.ts'
import { invalid, notFound } from './errors.ts'
import { checkMatch, sendRecord } from './etag.ts'
import { type CustomFields, IdParams, NoFields } from './fields.ts'
import { changesOf, customFieldsProblems, mergedBody } from './patch.ts'
import type { App } from './server.ts'
import type { Writer } from './write.ts'

type Deps = { db: Db; write: Writer }

type Resource = {
  path: string
  /** The table, and the name in the scopes. */
  table: Deletable
  noun: string
  /** Whether reading and deleting go beyond the base interface; restoring always does. */
  extension?: boolean
  view: TSchema
  find(db: Db, workspace_id: number, id: number): Promise<object | null>
  /** The stored fields by which totals are kept. */
  counted: readonly string[]
  /** What is to be locked beside the record, whether live or in the trash, before it comes back. */
  holdToRestore?(tx: Db, workspace_id: number, id: number): Promise<void>
  /** The events of both, where the catalogue has them; a function emits what depends on the record. */
  deleted?: EventDefinition | ((tx: Db, context: Context, record: object) => Promise<void>)
  restored?: EventDefinition | ((tx: Db, context: Context, record: object, changes: Changes) => Promise<void>)
}

/** The record that was found, or 404. */
export function orNotFound<R>(noun: string, record: R | null): R {
  if (!record) throw notFound(`This ${noun}`)
  return record
}

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

/** What every resource does alike: reading one record, moving it to the trash, and bringing it back. */
export function recordRoutes(app: App, { db, write }: Deps, resource: Resource): void {
  const { path, table, noun, view, find, counted } = resource
  const marks = { params: IdParams, ...(resource.extension && { 'x-extension': true }) }

  const existing = async (handle: Db, workspace_id: number, id: number): Promise<object> =>
    orNotFound(noun, await find(handle, workspace_id, id))

  app.get(
    `${path}/:id`,
    {
      config: { scope: `${table}:read` },
      schema: { ...marks, summary: `Read ${withArticle(noun)}`, response: { 200: Single(view) } },
    },
    async (request, reply) =>
      sendRecord(request, reply, await existing(db, request.access.workspace_id, request.params.id)),
  )

  app.delete(
    `${path}/:id`,
    {
      config: { scope: `${table}:write` },
      schema: { ...marks, summary: `Move ${withArticle(noun)} to the trash`, response: { 200: Deleted } },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id } = context
        const { id } = request.params
        await lockRow(tx, table, workspace_id, id)
        const { now } = context
        const record = await existing(tx, workspace_id, id)
        checkMatch(request, record)
        if (!(await moveRecord(tx, table, counted, workspace_id, id, now))) throw notFound(`This ${noun}`)
        const { deleted: told } = resource
        if (typeof told === 'function') await told(tx, context, record)
        else if (told) await emit(tx, context, told, record)
        await recordChange(tx, context, {
          action: 'deleted',
          kind: table,
          record_id: id,
          before: factsOf(record),
        })
        return { body: deleted(`The ${noun}`) }
      }),
  )

  app.post(
    `${path}/:id/restore`,
    {
      config: { scope: `${table}:write` },
      schema: {
        ...marks,
        'x-extension': true,
        summary: `Restore ${withArticle(noun)} from the trash`,
        body: NoFields,
        response: { 200: Single(view) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { id } = request.params
        await lockRow(tx, table, workspace_id, id)
        await resource.holdToRestore?.(tx, workspace_id, id)
        const live = await find(tx, workspace_id, id)
        if (live) {
          checkMatch(request, live)
          return { record: live }
        }
        const deleted_at = await deletedAt(tx, table, workspace_id, id)
        if (!deleted_at) throw notFound(`This ${noun}`)
        if (problems.length) throw invalid(problems)
        const moved = await moveRecord(tx, table, counted, workspace_id, id, null)
        const record = await existing(tx, workspace_id, id)
        // What comes back is what was read before it went.
        checkMatch(request, record)
        const changes = { changed_fields: ['deleted_at'], previous: { deleted_at } }
        if (!moved) return { record }
        const { restored: told } = resource
        if (typeof told === 'function') await told(tx, context, record, changes)
        else if (told) await emit(tx, context, told, record, changes)
        await recordChange(tx, context, {
          action: 'restored',
          kind: table,
          record_id: id,
          after: factsOf(record),
        })
        return { record }
      }),
  )
}

type Changeable = { id: number; custom_fields?: CustomFields }

type Changing<R extends Changeable> = Pick<Resource, 'path' | 'table' | 'noun' | 'extension' | 'view'> & {
  body: TSchema
  /** What a person may change. */
  fields: readonly string[]
  /** What the fields refer to, such as {company_id: 'companies'}. */
  references?: Record<string, Referable>
  find(db: Db, workspace_id: number, id: number): Promise<R | null>
  update(tx: Db, workspace_id: number, now: string, before: R, changes: Partial<R>): Promise<void>
  updated: EventDefinition
}

/** PUT and PATCH of a record: only what is sent changes, and only what changed is told. */
export function changeRoute<R extends Changeable>(
  app: App,
  { write }: Deps,
  { path, table, noun, extension, view, body, fields, references = {}, find, update, updated }: Changing<R>,
): void {
  const existing = async (tx: Db, workspace_id: number, id: number): Promise<R> =>
    orNotFound(noun, await find(tx, workspace_id, id))

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:id`,
    config: { scope: `${table}:write` },
    schema: {
      ...(extension && { 'x-extension': true }),
      summary: `Change ${withArticle(noun)}`,
      params: IdParams,
      body,
      response: { 200: Single(view) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        await lockRow(tx, table, workspace_id, request.params.id)
        const { now } = context
        const before = await existing(tx, workspace_id, request.params.id)
        checkMatch(request, before)
        const merged = mergedBody(request.body as Partial<R>, before, problems)
        const changes = changesOf(merged, before, fields)
        const wrong = [
          ...problems,
          ...customFieldsProblems(changes.custom_fields, before.custom_fields),
          ...(await referenceProblems(tx, workspace_id, changes, references)),
        ]
        if (wrong.length) throw invalid(wrong)
        if (!Object.keys(changes).length) return { record: before }
        await update(tx, workspace_id, now, before, changes)
        const after = await existing(tx, workspace_id, before.id)
        const told = changesBetween(before, after, fields)
        if (!told) return { record: after }
        await emit(tx, context, updated, after, told)
        await recordChange(tx, context, {
          ...{ action: 'updated', kind: table, record_id: before.id },
          ...sidesOf(told, after),
        })
        return { record: after }
      }),
  })
}
