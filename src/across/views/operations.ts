import type { Static } from 'typebox'
import type { Db } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockRow, lockText } from '../../db/locks.ts'
import { orNotFound, refuse, refuseMore } from '../../errors.ts'
import { auditSides, auditSnapshot, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { changesOf } from '../../http/patch.ts'
import { countViews, findView, insertView, removeView, updateView } from './queries.ts'
import { max_views, type View, type ViewParams, view_fields } from './schema.ts'

type Fields = Partial<Pick<View, 'list' | 'name' | 'query'>>
type OfView<Body = unknown> = Incoming<Static<typeof ViewParams>, Body>
type Named = Pick<OfView, 'params' | 'expect'>

const change = (action: string, record_id: string) => ({ action, kind: 'views', record_id })

const existing = async (db: Db, { workspace_id }: Context, id: string): Promise<View> =>
  orNotFound('saved view', await findView(db, workspace_id, id))

async function lockView(tx: Db, context: Context, { params, expect }: Named): Promise<View> {
  await lockRow(tx, 'saved_views', context.workspace_id, params.view_id)
  const view = await existing(tx, context, params.view_id)
  expect(view)
  return view
}

/** Saves a view. Throws 409 if the workspace has 200. */
export async function createView(
  tx: Db,
  context: Context,
  { body, problems }: Pick<Incoming<unknown, Fields>, 'body' | 'problems'>,
): Promise<View> {
  refuse(problems)
  const { workspace_id } = context
  // The lock makes the limit exact.
  await lockText(tx, 'saved_views', workspace_id, '')
  const limit = `A workspace has at most ${max_views} saved views`
  refuseMore('too_many_views', await countViews(tx, workspace_id), max_views, limit, 'Delete one first.')
  const { list = '', name = '', query = '' } = body
  const id = newId('view')
  await insertView(tx, workspace_id, context.now, { id, list, name, query })
  const view = await existing(tx, context, id)
  recordChange(tx, context, { ...change('created', id), after: auditSnapshot(view) })
  return view
}

/** Changes the fields of a view that are sent. */
export async function changeView(tx: Db, context: Context, sent: OfView<Fields>): Promise<View> {
  const before = await lockView(tx, context, sent)
  refuse(sent.problems)
  const changes = changesOf(sent.body, before, view_fields)
  if (!Object.keys(changes).length) return before
  await updateView(tx, context.workspace_id, before.id, context.now, changes)
  const after = await existing(tx, context, before.id)
  const changed = changesBetween(before, after, view_fields)
  if (changed) recordChange(tx, context, { ...change('updated', before.id), ...auditSides(changed, after) })
  return after
}

/** Deletes a view for good. */
export async function deleteView(tx: Db, context: Context, sent: Named): Promise<void> {
  const before = await lockView(tx, context, sent)
  await removeView(tx, context.workspace_id, before.id)
  recordChange(tx, context, { ...change('deleted', before.id), before: auditSnapshot(before) })
}
