import type { Db } from '../../db/db.ts'
import { idFrom } from '../../db/ids.ts'

/** The most changes of a group that are reverted. */
export const max_changes = 1000

/** The changes of a record by a group: its actions in their order, and the values of fields before the first one. */
export type RecordChanges = {
  kind: string
  id: number
  actions: string[]
  before: Record<string, unknown>
  change_group: string
  first_entry: number
}

/** The changes of a group by record, the last changed record first, and their number. Reads one entry more than the limit. */
export async function changesOfGroup(
  db: Db,
  workspace_id: number,
  change_group: string,
): Promise<{ records: RecordChanges[]; count: number }> {
  const entries = await db
    .selectFrom('audit_log')
    .select(['id', 'kind', 'record_id', 'action', 'before', 'after'])
    .where((eb) => eb.and({ workspace_id, change_group }))
    .orderBy('id')
    .limit(max_changes + 1)
    .execute()
  const records = new Map<string, RecordChanges>()
  for (const { id, kind, record_id, action, before, after } of entries) {
    const key = `${kind} ${record_id}`
    const known: RecordChanges = records.get(key) ?? {
      kind,
      id: Number(record_id),
      actions: [],
      before: {},
      change_group,
      first_entry: id,
    }
    const moves = action === 'deleted' || action === 'restored'
    const changed = moves ? {} : valuesBefore(JSON.parse(before ?? '{}'), JSON.parse(after ?? '{}'))
    known.before = earliest(known.before, changed)
    known.actions.push(action)
    records.set(key, known)
  }
  return { records: [...records.values()].reverse(), count: entries.length }
}

type Values = Record<string, unknown>
type Custom = { custom_fields?: Values }

/** The values of fields before a change, with null for each custom field that it added: a PUT leaves other keys as they are. */
function valuesBefore(before: Values & Custom, after: Custom): Values {
  if (!before.custom_fields) return before
  const added = Object.keys(after.custom_fields ?? {}).map((key): [string, null] => [key, null])
  return { ...before, custom_fields: { ...Object.fromEntries(added), ...before.custom_fields } }
}

/** Of several changes of a field, the first one knows the value before the group. */
function earliest(known: Values & Custom, later: Values & Custom): Values {
  const custom_fields = { ...later.custom_fields, ...known.custom_fields }
  const has_custom = known.custom_fields !== undefined || later.custom_fields !== undefined
  return { ...later, ...known, ...(has_custom && { custom_fields }) }
}

/** The group of the changes that revert a group. It is the same for each request, so a repeated one knows its own changes. */
export const groupOfRevert = (group: string): string => idFrom('grp', `revert of ${group}`)

/** Whether a change after the first one of the group, neither of it nor of its revert, changed this record. */
export async function wasChangedSince(
  db: Db,
  workspace_id: number,
  { kind, id, change_group, first_entry }: RecordChanges,
): Promise<boolean> {
  const later = await db
    .selectFrom('audit_log')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('kind', '=', kind)
    .where('record_id', '=', String(id))
    .where('id', '>', first_entry)
    .where((eb) =>
      eb.or([
        eb('change_group', 'is', null),
        eb('change_group', 'not in', [change_group, groupOfRevert(change_group)]),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return later !== undefined
}
