import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../db/db.ts'
import { sameText } from '../db/lists/same-text.ts'
import { prepareInsert } from '../db/statements/recordset.ts'
import type { Item, Outcome } from '../resources/batch/items.ts'
import { writtenFields } from '../resources/batch/undo.ts'
import type { Resource } from '../resources/resource.ts'
import type { Room } from '../resources/room.ts'
import type { ImportRow } from './store.ts'

// The data for an undo: the records that an import made, and the earlier values of records that it changed.

type Fields = Record<string, unknown>
type Dated = { updated_at: string }
type Kept = { before: string | null; changed_at: string }

const columns = {
  workspace_id: 'bigint!',
  import_id: 'text!',
  kind: 'text!',
  record_id: 'bigint!',
  changed_at: 'text!',
  before: 'text',
  source_id: 'bigint',
} as const
const add = prepareInsert('import_changes', columns, {
  existing: { key: ['workspace_id', 'import_id', 'kind', 'record_id'], gets: ['changed_at', 'before'] },
})

/**
 * Keeps what the items of a batch changed, from their outcomes. A record that an import changes twice keeps its first values. If somebody
 * changed it in between, it keeps its first time, too: so an undo finds it changed.
 */
export async function keepChanges(
  tx: Tx,
  { workspace_id, id: import_id }: ImportRow,
  room: Room,
  items: readonly Item[],
  outcomes: readonly Outcome[],
  sources: ReadonlyMap<number, number> = new Map(),
): Promise<void> {
  const { resource, import: form } = room
  const { table: kind } = resource
  const changed = outcomes
    .map((outcome, n) => ({ ...outcome, row: items[n]?.data ?? {} }))
    .filter(({ status }) => status === 'created' || status === 'updated')
  const ids = changed.flatMap(({ id, status }) => (status === 'updated' && id !== null ? [id] : []))
  const kept = new Map<number, Kept>()
  if (ids.length) {
    const rows = await tx
      .selectFrom('import_changes')
      .select(['record_id', 'before', 'changed_at'])
      .where((eb) => eb.and({ workspace_id, import_id, kind }))
      .where('record_id', 'in', ids)
      .execute()
    for (const { record_id, ...entry } of rows) kept.set(record_id, entry)
  }
  const written = writtenFields(room)
  for (const { id, before, after, row } of changed) {
    const sets = (name: string) => setsField(row as Fields, name, before as Fields | null)
    const derived = (before && form?.derived?.(before).filter((name) => !sets(name))) ?? []
    const undo =
      before && earlierValues(written, form?.sets ?? [], derived, before as Fields, after as Fields)
    const { updated_at } = after as Dated
    const earlier = kept.get(id as number)
    const is_untouched = !earlier || (before as Dated | null)?.updated_at === earlier.changed_at
    const all = earlier ? merged(earlier.before, undo, sets) : undo
    // Of a record that somebody changed between two rows, nothing is put back.
    if (all?.$added_tags) all.$rest = is_untouched ? restOf(resource, after as object) : ''
    const changed_at = is_untouched ? updated_at : earlier.changed_at
    kept.set(id as number, { before: all && JSON.stringify(all), changed_at })
  }
  const all = [...new Set(changed.map(({ id }) => id as number))].map((record_id) => ({
    workspace_id,
    import_id,
    kind,
    record_id,
    ...(kept.get(record_id) as Kept),
    source_id: sources.get(record_id) ?? null,
  }))
  tx.defer(add(tx, all))
}

/** Whether a row sets a field. A value that the record shows already may have been read from it, as in a PUT. */
const setsField = (row: Fields, name: string, before: Fields | null): boolean =>
  name in row && row[name] !== before?.[name]

/**
 * The body that restores earlier values. `$followed` has derived values, which the undo does not restore, as they were. The
 * stored key is older than their name. `$added_tags` has the tags that the import added, and `$rest` the record's other fields
 * after it, as a hash.
 */
type Earlier = Fields & { $followed?: Fields; $added_tags?: string[]; $rest?: string }

/** The item that puts back what an import changed, from what was kept of the change. */
export function undoingItem(id: number, kept: string): Item {
  const { $followed: _, $rest: __, $added_tags, ...data }: Earlier = JSON.parse(kept)
  return { op: 'update', id, data, ...($added_tags && { remove_tags: $added_tags }) }
}

/** Whether a record that was changed since differs from what the import left in its tags alone. */
export function hasOtherTagsOnly(resource: Resource, kept: string | null, record: object): boolean {
  const { $rest }: Earlier = JSON.parse(kept ?? '{}')
  return $rest !== undefined && $rest === restOf(resource, record)
}

const restOf = ({ writable }: Resource, record: object): string =>
  hash(
    'sha256',
    JSON.stringify(writable.filter((name) => name !== 'tags').map((name) => (record as Fields)[name])),
    'base64url',
  )

/** Returns the body that undoes a change. It removes custom fields and tags that were added. */
function earlierValues(
  fields: readonly string[],
  set: readonly string[],
  derived: readonly string[],
  before: Fields,
  after: Fields,
): Earlier {
  const body: Earlier = {}
  if (derived.length) body.$followed = Object.fromEntries(derived.map((name) => [name, before[name]]))
  const others = (name: string) => !isDeepStrictEqual(before[name], after[name])
  for (const name of fields) if (!derived.includes(name) && others(name)) body[name] = before[name] ?? null
  // They say together what the record was, such as a deal that was lost without a reason.
  if ([...fields, ...set].some((name) => !derived.includes(name) && others(name)))
    for (const name of set) body[name] = before[name] ?? null
  if (body.tags) {
    const [old, current] = [before.tags as string[], after.tags as string[]]
    const added = withoutTags(current, old)
    if (!withoutTags(old, current).length) {
      delete body.tags
      body.$added_tags = added
    }
  }
  if (body.custom_fields) {
    const added = Object.keys(after.custom_fields as Fields).map((key) => [key, null])
    body.custom_fields = { ...Object.fromEntries(added), ...(before.custom_fields as Fields) }
  }
  return body
}

function withoutTags(tags: readonly string[], others: readonly string[]): string[] {
  const keys = new Set(others.map(sameText))
  return tags.filter((tag) => !keys.has(sameText(tag)))
}

/** The first values of a record that an import changed twice; null for one that it made. */
function merged(
  first: string | null,
  second: Earlier | null,
  sets: (name: string) => boolean,
): Earlier | null {
  if (first === null) return null
  const earlier: Earlier = JSON.parse(first)
  const body: Earlier = { ...second, ...earlier }
  // The second row may set a field whose value was derived until then.
  for (const [name, value] of Object.entries(earlier.$followed ?? {}))
    if (sets(name)) body[name] = earlier[name] ?? value
    else if (!(name in earlier)) delete body[name]
  const { $added_tags = [] } = earlier
  if (second?.$added_tags) body.$added_tags = [...$added_tags, ...second.$added_tags]
  // The second change replaced the tags, those that the first one had added too.
  else if (second?.tags && $added_tags.length) {
    body.tags = withoutTags(second.tags as string[], $added_tags)
    delete body.$added_tags
  }
  if (earlier.tags) delete body.$added_tags
  if (second?.custom_fields && earlier.custom_fields)
    body.custom_fields = { ...(second.custom_fields as Fields), ...(earlier.custom_fields as Fields) }
  return body
}
