import type { Static } from 'typebox'
import type { Db, Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockRow, lockText } from '../../db/locks.ts'
import { type FieldProblem, forbidden, orNotFound, refuse, refuseMore } from '../../errors.ts'
import { actorOf, storedActor } from '../../events/actors.ts'
import { auditSides, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Actor, Context } from '../../events/context.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { changesOf } from '../../http/patch.ts'
import {
  countViews,
  findView,
  holdMember,
  insertView,
  type Reader,
  removeView,
  updateView,
} from './queries.ts'
import { max_views, type View, type ViewFields, type ViewParams, view_fields } from './schema.ts'

type OfView<Body = unknown> = Incoming<Static<typeof ViewParams>, Body>
type Named = Pick<OfView, 'params' | 'expect'>

const change = (action: string, record_id: string) => ({ action, kind: 'views', record_id })

const existing = async (db: Db, { workspace_id }: Context, reader: Reader, id: string): Promise<View> =>
  orNotFound('saved view', await findView(db, workspace_id, reader, id))

/** The fields of a view for the audit log, whose readers do not see the texts of a private view. */
const audited = ({ list, name, query, visibility }: View): Partial<ViewFields> =>
  visibility === 'shared' ? { list, name, query, visibility } : { list, visibility }

const isOwn = ({ kind, id }: Actor, { created_by }: View) => kind === 'person' && created_by?.id === id

/** Throws 403 for another person's view. Keys change any shared view, and any member changes a view that no person made. */
function refuseOthers({ actor, scopes }: Context, view: View): void {
  const is_administrator = !scopes
  if (actor.kind !== 'person' || is_administrator) return
  if (view.created_by?.kind === 'person' && !isOwn(actor, view))
    throw forbidden('Only the person who made this view, or an administrator, may change it.')
}

async function lockView(tx: Tx, context: Context, reader: Reader, sent: Named): Promise<View> {
  const { params, expect } = sent
  await lockRow(tx, 'saved_views', context.workspace_id, params.view_id)
  const view = await existing(tx, context, reader, params.view_id)
  refuseOthers(context, view)
  expect(view)
  return view
}

type Place = { visibility: View['visibility']; maker: string | null }

async function refuseTooMany(tx: Tx, { workspace_id }: Context, place: Place): Promise<void> {
  // The lock makes the limit exact.
  await lockText(tx, 'saved_views', workspace_id, '')
  const limit = `A workspace has at most ${max_views} shared views, and a member ${max_views} private ones`
  const count = await countViews(tx, workspace_id, place)
  refuseMore('too_many_views', count, max_views, limit, 'Delete one first.')
}

function privateProblems({ visibility, maker }: Place): FieldProblem[] {
  const is_person = maker !== null && actorOf(maker).kind === 'person'
  if (visibility === 'shared' || is_person) return []
  const message = 'visibility must be shared. A private view needs a person, not a key.'
  return [{ field: 'visibility', code: 'not_allowed', message }]
}

/**
 * Saves a view. An import names the `maker`; null: nobody. Throws 409 for more than 200 shared views of the workspace, or
 * private ones of the maker.
 */
export async function createView(
  tx: Tx,
  context: Context,
  { body, problems }: Pick<Incoming<unknown, Partial<ViewFields>>, 'body' | 'problems'>,
  maker: string | null = storedActor(context.actor),
): Promise<View> {
  const { list = '', name = '', query = '', visibility = 'shared' } = body
  const place = { visibility, maker }
  refuse([...problems, ...privateProblems(place)])
  const { workspace_id, now, actor } = context
  if (visibility === 'private' && maker) await holdMember(tx, workspace_id, maker)
  await refuseTooMany(tx, context, place)
  const id = newId('view')
  const fields = { id, list, name, query, visibility }
  await insertView(tx, workspace_id, now, { ...fields, created_by: maker, updated_by: storedActor(actor) })
  const view = await existing(tx, context, maker ? actorOf(maker) : actor, id)
  recordChange(tx, context, { ...change('created', id), after: audited(view) })
  return view
}

/** Changes the fields of a view that are sent. Only the person who made a view may make it private. */
export async function changeView(tx: Tx, context: Context, sent: OfView<Partial<ViewFields>>): Promise<View> {
  const { workspace_id, actor, now } = context
  const { visibility } = sent.body
  // Before the row is locked: a removal of the member locks in this order, too.
  if (visibility === 'private' && actor.kind === 'person')
    await holdMember(tx, workspace_id, String(actor.id))
  const before = await lockView(tx, context, actor, sent)
  refuse(sent.problems)
  const changes = changesOf(sent.body, before, view_fields)
  if (!Object.keys(changes).length) return before
  if (changes.visibility === 'private' && !isOwn(actor, before))
    throw forbidden('Only the person who made a view may make it private.')
  if (changes.visibility)
    await refuseTooMany(tx, context, { visibility: changes.visibility, maker: actor.id })
  const author = { updated_by: storedActor(actor), updated_at: now }
  await updateView(tx, workspace_id, before.id, { ...changes, ...author })
  const after = await existing(tx, context, actor, before.id)
  const [old, current] = [audited(before), audited(after)]
  const changed = changesBetween(old, current, view_fields)
  recordChange(tx, context, { ...change('updated', before.id), ...(changed && auditSides(changed, current)) })
  return after
}

/** Deletes a view for good. The undo of an import deletes what it made, also for another `reader`. */
export async function deleteView(
  tx: Tx,
  context: Context,
  sent: Named,
  reader: Reader = context.actor,
): Promise<void> {
  const before = await lockView(tx, context, reader, sent)
  await removeView(tx, context.workspace_id, before.id)
  recordChange(tx, context, { ...change('deleted', before.id), before: audited(before) })
}
