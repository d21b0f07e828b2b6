import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { awaitDefinitions, rowLock } from '../db/locks.ts'
import { chosenIds } from '../db/statements/recordset.ts'
import { renewWork } from '../db/work.ts'
import { conflict } from '../errors.ts'
import {
  type DefinedValue,
  definedValues,
  insertDefinedValues,
  removeDefinedValues,
} from './defined-values.ts'
import { customValue, type Definition, reasonAgainst } from './definition-rules.ts'
import { undoUnchecked } from './queries.ts'

// When a field is defined, the values of existing records are checked and stored in batches. So a request waits for at
// most one batch. Concurrent writes obey the definition already.

const batch = 500
/** Another process may take over a check that has not advanced for this time. */
export const lease_ms = 60_000

/** A definition whose existing values are to be checked. */
export type Unchecked = Definition & { workspace_id: number; kind: string }

type Hold = (tx: Tx) => Promise<void>

/**
 * Checks the existing values of a definition, and undoes its first transaction on an error. Throws 409 for values that break
 * it. `hold` runs in the transaction of each batch.
 */
export async function checkBegun(
  db: Db,
  clock: Clock,
  { id, unchecked }: { id: number; unchecked: Unchecked | null },
  { is_forced, hold }: { is_forced: boolean; hold?: Hold },
): Promise<void> {
  if (!unchecked) return
  try {
    const broken = await checkExisting(db, clock, unchecked, hold)
    if (!is_forced) refuseBroken(broken)
  } catch (error) {
    // upkeep.ts does it if this fails.
    await transaction(db, (tx) => undoUnchecked(tx, unchecked.workspace_id, id)).catch(() => {})
    throw error
  }
}

/** How many existing values the definition does not allow, and how many are the value of another record, too. */
export type Broken = { invalid: number; taken: number }

/**
 * Stores the existing values of a definition in its order, and counts those that break it. The definition must be
 * committed. Throws 409 if somebody removes it meanwhile.
 */
export async function checkExisting(
  db: Db,
  clock: Clock,
  definition: Unchecked,
  hold?: Hold,
): Promise<Broken> {
  await awaitDefinitions(db, definition.workspace_id)
  const broken = { invalid: 0, taken: 0 }
  for (let after: Place | undefined = { value: '', record_id: 0 }; after; ) {
    const place: Place = after
    const found = await transaction(db, async (tx) => {
      await hold?.(tx)
      return checkBatch(tx, clock, definition, place)
    })
    broken.invalid += found.invalid
    broken.taken += found.taken
    after = found.next
  }
  return broken
}

/** Throws 409 for a definition that existing values break. */
function refuseBroken({ invalid, taken }: Broken): void {
  const count = invalid + taken
  if (!count) return
  const values = count === 1 ? '1 existing value breaks' : `${count} existing values break`
  const parts = [invalid && `${invalid} not of its type`, taken && `${taken} not unique`].filter(Boolean)
  throw conflict(
    'values_break_definition',
    `${values} this definition (${parts.join(', ')}). Change them, or send force=true to keep them until they change.`,
    { count, invalid, taken },
  )
}

type Place = { value: string; record_id: number }

async function checkBatch(
  tx: Tx,
  clock: Clock,
  definition: Unchecked,
  after: Place,
): Promise<Broken & { next: Place | undefined }> {
  const { workspace_id, kind, id, key } = definition
  const check = { workspace_id, kind: 'custom_field', subject: String(id) } as const
  if (!(await renewWork(tx, check, clock.elapsed() + lease_ms)))
    throw conflict('field_removed', 'The custom field was removed while its values were checked.')
  const places = await tx
    .selectFrom('field_values')
    .select(['value', 'record_id'])
    .where((eb) => eb.and({ workspace_id, kind, field: `custom_fields.${key}` }))
    .where(sql<boolean>`(value, record_id) > (${after.value}, ${after.record_id})`)
    .orderBy('value')
    .orderBy('record_id')
    .limit(batch)
    .execute()
  if (!places.length) return { invalid: 0, taken: 0, next: undefined }
  const records = await lockRecords(
    tx,
    kind,
    workspace_id,
    places.map(({ record_id }) => record_id),
  )
  const judged = records.flatMap(({ id: record_id, custom_fields }) => {
    const value = customValue(JSON.parse(custom_fields), key)
    return value === undefined
      ? []
      : [{ record_id, value, is_valid: reasonAgainst(definition, value) === null }]
  })
  const rows = judged.flatMap(({ record_id, value }) =>
    definedValues([definition], workspace_id, record_id, { [key]: value }),
  )
  const invalid = judged.filter(({ is_valid }) => !is_valid).length
  return {
    invalid,
    taken: await storeRows(tx, rows),
    next: places.length === batch ? places.at(-1) : undefined,
  }
}

// Writers lock the record first, too. So a record has the rows of its last values.
async function lockRecords(tx: Tx, kind: string, workspace_id: number, ids: readonly number[]) {
  const lock = rowLock(tx, 'FOR NO KEY UPDATE OF t')
  const { rows } = await sql<{ id: number; custom_fields: string }>`
    SELECT t.id, t.custom_fields FROM ${chosenIds(tx, ids)} CROSS JOIN ${sql.table(kind)} AS t
    WHERE t.workspace_id = ${workspace_id} AND t.id = chosen.value AND t.deleted_at IS NULL
    ORDER BY t.id ${lock}`.execute(tx)
  return rows
}

/** Stores rows in place of those of the same records. Returns how many have a value that another record has. */
async function storeRows(tx: Tx, rows: readonly DefinedValue[]): Promise<number> {
  await removeDefinedValues(tx, rows)
  const added = new Set((await insertDefinedValues(tx, rows)).map(({ record_id }) => record_id))
  const taken = rows.filter(({ record_id }) => !added.has(record_id))
  await insertDefinedValues(
    tx,
    taken.map((row) => ({ ...row, unique_value: null })),
  )
  return taken.length
}
