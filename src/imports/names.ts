import { sql } from 'kysely'
import { transaction } from '../db/db.ts'
import { sameName, sameText } from '../db/lists/same-text.ts'
import { sortName } from '../db/lists/sort-names.ts'
import { perKey, prepare } from '../db/statements/prepare.ts'
import { isAnyOf, listParameter } from '../db/statements/recordset.ts'
import { textProblems } from '../http/texts.ts'
import { runBatch } from '../resources/batch/batch.ts'
import { type Item, writesOf } from '../resources/batch/items.ts'
import type { Room } from '../resources/room.ts'
import { type Use, withUse } from './account.ts'
import { keepChanges } from './changes.ts'
import { type Problem, problemsOf } from './errors.ts'
import { importable } from './items.ts'
import { freeKey, type MappedRow } from './mapped-row.ts'
import { findContacts, findMembers, noSuch } from './people.ts'
import type { Running } from './rows.ts'
import { holdImport } from './store.ts'

// References by name, such as `company` for `company_id`.

/** The id of a name, or why it has none: a problem of the row, or a note on a row that is imported without the link. */
export type Linked = { id: number | string | null } | { problem: NameProblem } | { note: NameProblem }
export type NameProblem = Omit<Problem, 'field'>

/**
 * Gives rows the ids of the records that they name, and makes missing companies. An id that the row has too counts if its
 * record has the name. Returns the problems by row, and the notes on rows that lose a link.
 */
export async function linkNames(
  running: Running,
  rows: readonly MappedRow[],
): Promise<{ problems: Map<MappedRow, Problem>; notes: { row: MappedRow; problem: Problem }[] }> {
  const problems = new Map<MappedRow, Problem>()
  const notes: { row: MappedRow; problem: Problem }[] = []
  for (const field of running.room.import.by_name) {
    const naming = rows.filter((row) => hasName(row, field, problems))
    if (!naming.length) continue
    const nameOf = (row: MappedRow) => row.names[field] as string
    const unconfirmed = await withoutConfirmed(running, field, naming)
    const names = [...new Set(unconfirmed.map(nameOf))]
    const linked = await linksOf(running, field, names, unconfirmed)
    for (const row of unconfirmed) {
      const found = linked.get(nameOf(row)) as Linked
      if ('problem' in found) problems.set(row, { ...found.problem, field })
      else if ('note' in found) {
        if (field === 'owner_id') row.is_unowned = true
        leaveOut(row, [field, field.replace(/_id$/, '')], 'not_linked')
        delete row.data[field]
        notes.push({ row, problem: { field, ...found.note } })
      } else {
        if (![undefined, found.id].includes(row.data[field] as number)) leaveOut(row, [field], 'other_value')
        if (found.id === null) delete row.data[field]
        else row.data[field] = found.id
      }
    }
  }
  return { problems, notes }
}

/** Takes the cells of a reference out of a row. They become custom fields if the import keeps the rest. */
function leaveOut(row: MappedRow, targets: readonly string[], reason: Use): void {
  const { data, values } = row
  row.used = withUse(row.used, targets, (n) => {
    const { spare_key = null } = row.used.columns[n] ?? {}
    const { custom_fields = {} } = data
    if (spare_key === null || typeof custom_fields !== 'object') return reason
    const fields = { ...custom_fields } as Record<string, unknown>
    fields[freeKey(fields, spare_key, values[n])] = values[n]
    data.custom_fields = fields
    return 'stored'
  })
}

/** The records of names. A missing company is made for a row that is imported; another missing record is a note. */
async function linksOf(
  running: Running,
  field: string,
  names: readonly string[],
  rows: readonly MappedRow[],
): Promise<Map<string, Linked>> {
  const table = running.room.resource.references[field]
  if (table === undefined) return findMembers(running, names)
  if (table === 'contacts') return findContacts(running, names)
  const linked = await findNames(running, table, names)
  const missing = names.filter((name) => !linked.has(name))
  if (table === 'deals') for (const name of missing) linked.set(name, { note: noSuch('deal', name) })
  else if (missing.length) {
    const nameOf = (row: MappedRow) => row.names[field] as string
    const naming = rows.filter((row) => !linked.has(nameOf(row)))
    const made = new Set((await importable(running, naming)).map(nameOf))
    for (const name of missing) if (!made.has(name)) linked.set(name, { note: noSuch('company', name) })
    const target = running.rooms.find(({ resource }) => resource.table === table) as Room
    if (made.size) await makeMissing(running, target, field, [...made], linked)
  }
  return linked
}

/** Whether a row has a name that a database can look up. Adds the problem of another one. */
function hasName(row: MappedRow, field: string, problems: Map<MappedRow, Problem>): boolean {
  const name = row.names[field]
  if (name === undefined) return false
  const [problem] = textProblems({ [field]: name })
  if (problem) problems.set(row, { ...problem, field })
  return !problem
}

/** The rows whose own id does not name a record with the name. */
async function withoutConfirmed(
  { db, room, row: { workspace_id } }: Running,
  field: string,
  rows: readonly MappedRow[],
): Promise<MappedRow[]> {
  const table = room.resource.references[field]
  if (table === undefined) return [...rows]
  const idOf = ({ data }: MappedRow) => data[field] as number
  const ids = [...new Set(rows.map(idOf).filter((id) => Number.isSafeInteger(id) && id > 0))]
  if (!ids.length) return [...rows]
  const name = table === 'contacts' ? sql`first_name || ' ' || last_name` : sql`name`
  const { rows: found } = await sql<{
    id: number
    name: string
  }>`SELECT id, ${name} AS name FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(ids)}) AND deleted_at IS NULL`.execute(db)
  const names = new Map(found.map(({ id, name }) => [id, sameText(name)]))
  return rows.filter((row) => names.get(idOf(row)) !== sameText(row.names[field] as string))
}

const namedOf = perKey((table: string) =>
  prepare(
    (p: { workspace_id: number; keys: unknown }, db) => sql<{
      id: number
      name: string
      n: number
    }>`SELECT min(id) AS id, name, count(*) AS n FROM ${sql.table(table)}
        WHERE workspace_id = ${p.workspace_id} AND ${isAnyOf(db, 'sort_name', p.keys, 'text')} AND deleted_at IS NULL
        GROUP BY name ORDER BY min(id)`,
  ),
)

/** The oldest record of each name: with the same text, otherwise with the same letters in another case. */
async function findNames(
  { db, row: { workspace_id } }: Running,
  table: string,
  names: readonly string[],
): Promise<Map<string, Linked>> {
  const linked = new Map<string, Linked>()
  const keys = [...new Set(names.map((name) => sortName(name)))]
  if (!keys.length) return linked
  const rows = await namedOf(table)(db, { workspace_id, keys: listParameter(db, keys) })
  const same = Map.groupBy(rows, ({ name }) => sameText(name))
  const alike = Map.groupBy(rows, ({ name }) => sameName(name))
  for (const name of names) {
    const found = same.get(sameText(name)) ?? alike.get(sameName(name))
    if (!found?.[0]) continue
    const count = found.reduce((sum, { n }) => sum + Number(n), 0)
    // Several companies of a name are one to people; several deals are not.
    if (table === 'deals' && count > 1) linked.set(name, { problem: ambiguousDeal(name, count) })
    else linked.set(name, { id: found[0].id })
  }
  return linked
}

const ambiguousDeal = (name: string, n: number): NameProblem => ({
  code: 'ambiguous',
  message: `${n} deals have the name "${name.slice(0, 100)}". Write the id of one as deal_id.`,
})

async function makeMissing(
  running: Running,
  target: Room,
  field: string,
  names: readonly string[],
  linked: Map<string, Linked>,
): Promise<void> {
  const { db, options, row, clock } = running
  if (!options.makes.includes(field)) {
    const scope = `${target.resource.scope}:write`
    for (const name of names)
      linked.set(name, {
        problem: {
          code: 'not_found',
          message: `There is no ${target.resource.noun} with this name, and making one needs ${scope}.`,
        },
      })
    return
  }
  const writes = writesOf(target)
  if (!writes) return
  // The same list when the transaction runs again.
  const items = names.map((name): Item => ({ op: 'upsert', match: 'name', data: { name } }))
  const { dry_run } = options
  const outcomes = await transaction(
    db,
    async (tx) => {
      if (!dry_run) await holdImport(tx, row, clock)
      const skipping = { atomic: false, on_match: 'skip' } as const
      const made = await runBatch(tx, running.context(), writes, items, skipping)
      if (!dry_run) await keepChanges(tx, row, target, items, made)
      return made
    },
    { large: true, keeps: () => !dry_run },
  )
  for (const [n, { id, error }] of outcomes.entries())
    linked.set(
      names[n] as string,
      error ? { problem: problemsOf(error)[0] as Problem } : { id: dry_run ? null : id },
    )
}
