import type { Db, Tx } from '../../db/db.ts'
import { orNotFound, refuse } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { holdMember, readTabs, writeTabs } from './queries.ts'
import type { TabsParams, ViewTabs } from './schema.ts'

type Own = Pick<Context, 'workspace_id' | 'actor'>
const ownOf = ({ workspace_id, actor }: Own) => ({ workspace_id, user_id: String(actor.id) })

/** The tabs of a person for each of these lists. Without any stored, no order and no default. */
export async function listTabs(db: Db, own: Own, lists: readonly string[]): Promise<ViewTabs[]> {
  const stored = await readTabs(db, ownOf(own))
  return lists.map((list) => {
    const row = stored.find((one) => one.list === list)
    return { list, tabs: row ? JSON.parse(row.tabs) : [], default_tab: row?.default_tab ?? null }
  })
}

/** Changes the order or the default of a person's tabs for a list. Ids are stored as sent: a view may go at any time. */
export async function changeTabs(
  tx: Tx,
  context: Context,
  lists: readonly string[],
  { params, body, problems, expect }: Incoming<TabsParams, Partial<Omit<ViewTabs, 'list'>>>,
): Promise<ViewTabs> {
  const own = ownOf(context)
  const known = lists.filter((list) => list === params.list)
  // The lock also makes two changes of different fields both stay.
  await holdMember(tx, own.workspace_id, own.user_id)
  const before = orNotFound('list', (await listTabs(tx, context, known))[0] ?? null)
  expect(before)
  refuse(problems)
  // The body may name a list, too. The path decides which list changes.
  const { list } = before
  const { tabs, default_tab } = { ...before, ...body }
  const after = { list, tabs: [...new Set(tabs)], default_tab }
  await writeTabs(tx, own, { ...after, tabs: JSON.stringify(after.tabs) })
  return after
}
