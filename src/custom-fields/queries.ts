import { type Insertable, type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../db/db.ts'
import { countRows } from '../db/lists/counts.ts'
import type { Listed, Page } from '../db/lists/lists.ts'
import { readPage } from '../db/lists/lists.ts'
import { isAnyOf, listParameter } from '../db/statements/recordset.ts'
import type { Tables } from '../db/tables.ts'
import { dropWork } from '../db/work.ts'
import type { CustomField } from './schema.ts'

type Row = Pick<
  Insertable<Tables['field_definitions']>,
  'kind' | 'key' | 'label' | 'type' | 'options' | 'is_required' | 'is_unique' | 'position'
>

/** The fields of a definition that a person may change, as columns. */
export type Changeable = Partial<Pick<Row, 'label' | 'options' | 'is_required' | 'is_unique' | 'position'>>

const fields = [
  ...(['id', 'kind', 'key', 'label', 'type', 'options', 'is_required', 'is_unique', 'position'] as const),
  ...(['created_at', 'updated_at', 'status', 'previous'] as const),
] as const

type Stored = { [Name in (typeof fields)[number]]: unknown }

/** The definition as answers show it: without a change whose check is not complete. */
function shown({ status: _, previous, ...row }: Stored): CustomField {
  const current = { ...row, ...(previous ? JSON.parse(previous as string) : {}) }
  const { id, kind, key, label, type, options, is_required, is_unique, position, created_at, updated_at } =
    current
  return {
    id,
    resource: kind,
    key,
    label,
    type,
    options: JSON.parse(options),
    required: is_required === 1,
    unique: is_unique === 1,
    position,
    created_at,
    updated_at,
  }
}

const visible = sql<SqlBool>`status IN ('ready', 'changing')`

const inWorkspace = (db: Db, workspace_id: number) =>
  db.selectFrom('field_definitions').where('workspace_id', '=', workspace_id)

/** One page of the definitions of a workspace, or of some resources, in the order of their positions. */
export function listDefinitions(
  db: Db,
  workspace_id: number,
  kinds: readonly string[] | undefined,
  page: Page,
): Promise<Listed<CustomField>> {
  const all = inWorkspace(db, workspace_id).where(visible)
  const some = kinds === undefined ? all : all.where(isAnyOf(db, 'kind', listParameter(db, kinds), 'text'))
  return readPage(
    page,
    () => countRows(some),
    async ({ limit, offset }) => {
      const rows = await some
        .select(fields)
        .orderBy('kind')
        .orderBy('position')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute()
      return rows.map(shown)
    },
    () => [],
  )
}

/** A definition that answers show, or null. */
export async function findDefinition(db: Db, workspace_id: number, id: number): Promise<CustomField | null> {
  const row = await inWorkspace(db, workspace_id)
    .where(visible)
    .where('id', '=', id)
    .select(fields)
    .executeTakeFirst()
  return row ? shown(row) : null
}

/** The keys that are defined for a resource, and its last position. */
export async function definedKeys(
  db: Db,
  workspace_id: number,
  kind: string,
): Promise<{ keys: Set<string>; being_checked: Set<string>; last: number }> {
  const rows = await inWorkspace(db, workspace_id)
    .where('kind', '=', kind)
    .where('status', '<>', 'removed')
    .select(['key', 'position', 'status'])
    .execute()
  return {
    keys: new Set(rows.map(({ key }) => key)),
    being_checked: new Set(rows.filter(({ status }) => status === 'new').map(({ key }) => key)),
    last: Math.max(0, ...rows.map(({ position }) => position)),
  }
}

/** Adds a definition whose existing values are not checked yet; returns its id. */
export async function insertDefinition(tx: Tx, workspace_id: number, now: string, row: Row): Promise<number> {
  const { id } = await tx
    .insertInto('field_definitions')
    .values({ ...row, workspace_id, created_at: now, updated_at: now, status: 'new' })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

type Change = Changeable &
  Partial<Pick<Tables['field_definitions'], 'status' | 'previous'>> & {
    updated_at?: string
  }

/** Changes columns of a definition; false if it is not in one of these states. */
export async function updateDefinition(
  tx: Tx,
  workspace_id: number,
  id: number,
  change: Change,
  states: readonly Tables['field_definitions']['status'][] = ['ready'],
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('field_definitions')
    .set(change)
    .where((eb) => eb.and({ workspace_id, id }))
    .where('status', 'in', states)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Undoes what is not complete: a new definition is removed, and a changed one is as before. It does nothing with a
 * definition whose check is complete.
 */
export async function undoUnchecked(tx: Tx, workspace_id: number, id: number): Promise<void> {
  const row = await inWorkspace(tx, workspace_id).where('id', '=', id).select('previous').executeTakeFirst()
  const before: Changeable = row?.previous ? JSON.parse(row.previous) : {}
  const ready = { ...before, status: 'ready', previous: null } as const
  // The work goes on: it removes the values.
  await updateDefinition(tx, workspace_id, id, { status: 'removed' }, ['new'])
  if (await updateDefinition(tx, workspace_id, id, ready, ['changing']))
    await dropWork(tx, workspace_id, 'custom_field', String(id))
}
