import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type ArchivedFile, cutOff, noArchive, readArchive } from '../files/archive.ts'
import { readRows } from '../files/read-rows.ts'
import { FileError, type FileRow } from '../files/rows.ts'
import type { Room } from '../resources/room.ts'
import { definitions_kind, importDefinitions } from './definitions.ts'
import type { Problem, RowError } from './errors.ts'
import type { MappedRow } from './mapped-row.ts'
import { createMapping } from './mapping.ts'
import { countParts } from './progress.ts'
import { archiveRooms, importRows, type Relink, type Running } from './rows.ts'
import { importViews, type NewIds, views_kind } from './saved-views.ts'
import type { KindCounts } from './schema.ts'
import { keepLease, readFile } from './store.ts'

// An archive of a workspace is read once for each kind. Members are read first, to find owners. Then come the
// definitions of custom fields, the records, each after those that it refers to, and the saved views. The rows are
// numbered through all files in this order. So the position of the last committed row is one number.

const file_name = /^([a-z_]{1,40})-\d{4,9}\.ndjson$/
const members_kind = 'members'
// Longer than any record that requests can make, such as a booking page with separate hours on 1,000 days.
const max_line_characters = 2 * 1024 * 1024
const form = { format: 'ndjson', encoding: 'utf-8', max_characters: max_line_characters } as const

type Reading = Pick<Running, 'db' | 'clock' | 'rooms' | 'row'>

/** The rows of the archive's records. Throws FileError. */
export async function* archivedRows(running: Reading): AsyncGenerator<FileRow[]> {
  const { kinds, rows_before } = remainingKinds(running)
  let before = rows_before
  for (const kind of kinds)
    for await (const { name: file, content } of filesOf(running, kind)) {
      const lines = linesIn(content)
      const after = running.row.last_row - before
      if (after < lines)
        for await (const rows of linesOf(running, content, after))
          yield rows.map((one) => {
            const archived = { file, line: one.number, kind, id: idOf(one) }
            return { ...one, number: before + one.number, archived }
          })
      before += lines
    }
}

/** The kinds that are not imported to their end, and how many rows the kinds before them have. */
function remainingKinds({ rooms, row }: Reading): { kinds: string[]; rows_before: number } {
  const begun: KindCounts[] = JSON.parse(row.kinds)
  const ended = begun.slice(0, -1)
  const all = kindsOf(rooms)
  return {
    kinds: all.slice(Math.max(0, all.indexOf(begun.at(-1)?.kind ?? ''))),
    rows_before: ended.reduce((sum, { rows_read }) => sum + rows_read, 0),
  }
}

/** The kinds of an archive's rows, in the order in which they are imported. */
const kindsOf = (rooms: readonly Room[]): string[] => [
  definitions_kind,
  ...archiveRooms(rooms).map(({ resource }) => resource.table),
  views_kind,
]

/** Counts the rows of each kind in an archive. Above `max_bytes` of content, it stops, and the result is incomplete. */
export async function countRows(
  bytes: AsyncIterable<Buffer>,
  rooms: readonly Room[],
  max_bytes: number,
): Promise<{ kinds: { kind: string; rows: number }[]; complete: boolean }> {
  const known = knownKinds(rooms)
  const counts = new Map(kindsOf(rooms).map((kind) => [kind, 0]))
  let read = 0
  for await (const { name, content } of readArchive(unzipped(bytes), (name) => known.has(kindOf(name)))) {
    const kind = kindOf(name)
    if (counts.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + linesIn(content))
    read += content.length
    if (read >= max_bytes) break
  }
  const kinds = [...counts].filter(([, rows]) => rows > 0).map(([kind, rows]) => ({ kind, rows }))
  return { kinds, complete: read < max_bytes }
}

function linesIn(content: Buffer): number {
  const line_feed = 0x0a
  let lines = content.length && content.at(-1) !== line_feed ? 1 : 0
  // A search for each line would take a second for a file of line ends.
  for (let at = 0; at < content.length; at++) if (content[at] === line_feed) lines++
  return lines
}

const kindOf = (name: string): string => file_name.exec(name)?.[1] ?? ''

/** All files of a kind. */
async function* filesOf(running: Reading, kind: string): AsyncGenerator<ArchivedFile> {
  const known = knownKinds(running.rooms)
  const passes = [members_kind, ...kindsOf(running.rooms)]
  const pass = { pass: passes.indexOf(kind), of: passes.length }
  // A short part of the file can unpack to much content.
  const content_of_all = keepLease(running, unzipped(readFile(running, pass)))
  for await (const file of readArchive(content_of_all, (name) => known.has(kindOf(name))))
    if (kindOf(file.name) === kind) yield file
}

/** The lines of a file after a number. */
const linesOf = (running: Reading, content: Buffer, after = 0): AsyncGenerator<FileRow[]> =>
  keepLease(running, readRows(partsOf(content), form, after))

async function* unzipped(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pipeline(Readable.from(bytes), createGunzip(), () => {})
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'Z_DATA_ERROR') throw noArchive()
    throw code === 'Z_BUF_ERROR' ? cutOff() : error
  }
}

// An export of a workspace has these besides records.
const others = ['workspace', members_kind, definitions_kind, views_kind]
/** The scopes of what an archive brings besides records. */
export const other_scopes: Readonly<Record<string, string>> = {
  [definitions_kind]: 'workspace',
  [views_kind]: 'views',
}
const knownKinds = (rooms: readonly Room[]) =>
  new Set([...others, ...rooms.flatMap(({ resource }) => [resource.table, ...Object.keys(resource.owns)])])

const part_bytes = 32 * 1024

async function* partsOf(content: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < content.length; from += part_bytes)
    yield content.subarray(from, from + part_bytes)
}

function idOf({ names, values }: FileRow): number | null {
  const id = values[names.indexOf('id')]
  return Number.isSafeInteger(id) ? (id as number) : null
}

/** Returns the function that imports a batch of rows. An archive has rows of several kinds, but a batch has one kind. */
export async function openRows(running: Running): Promise<(rows: readonly FileRow[]) => Promise<void>> {
  const { row, rooms } = running
  if (row.resource !== 'workspace') return (rows) => importRows(running, rows)
  const members = await ownersOf(running)
  const relink = relinkBy(members)
  const new_ids: NewIds = { members, records: (db, kind, ids) => newIds({ ...running, db }, kind, ids) }
  const kinds = new Map<string, Running>()
  for (const room of archiveRooms(rooms)) {
    // The records that a line shows inside are linked by their ids, not by their names.
    const columns = Object.fromEntries(room.import.by_name.map((field) => [field.replace(/_id$/, ''), null]))
    // Without definitions: values in JSON have their types.
    const mapping = createMapping(room, { columns, rest: 'ignore' })
    // All kinds share `row`, so their counters add up.
    kinds.set(room.resource.table, { ...running, room, mapping, relink })
  }
  return (rows) => {
    const kind = rows[0]?.archived?.kind ?? ''
    if (kind === views_kind) return importViews(running, rows, new_ids)
    const of_kind = kinds.get(kind)
    if (!of_kind) return importDefinitions(running, rows)
    // A dry run makes no records that parts could belong to.
    const is_counted = running.options.dry_run && of_kind.room.resource.part_of
    return is_counted ? countParts(of_kind, rows) : importRows(of_kind, rows)
  }
}

/** The members of this workspace by the ids that they had in the archive, found by their e-mail addresses. */
async function ownersOf(running: Running): Promise<Map<unknown, string>> {
  const { db, row } = running
  const members = await db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .where('m.workspace_id', '=', row.workspace_id)
    .select(['u.id', 'u.email'])
    .execute()
  const ids = new Map(members.map(({ id, email }) => [email.toLowerCase(), id]))
  const owners = new Map<unknown, string>()
  try {
    for await (const { content } of filesOf(running, members_kind))
      for await (const rows of linesOf(running, content))
        for (const { names, values } of rows) {
          const email = values[names.indexOf('email')]
          const id = typeof email === 'string' ? ids.get(email.toLowerCase()) : undefined
          if (id !== undefined) owners.set(values[names.indexOf('id')], id)
        }
  } catch (error) {
    // The rows before the error are imported first; reading them finds it again.
    if (!(error instanceof FileError)) throw error
  }
  return owners
}

const relinkBy =
  (owners: ReadonlyMap<unknown, string>): Relink =>
  async (running, rows) => {
    const notes: RowError[] = []
    const { references, part_of } = running.room.resource
    const links = { ...references, ...(part_of && { [part_of.by]: part_of.table }) }
    for (const [field, table] of Object.entries(links)) {
      const ids = await newIds(
        running,
        table,
        [...rows.values()].map(({ data }) => data[field]),
      )
      replace(
        rows,
        field,
        ids,
        notes,
        // A part without its record is an error.
        running.options.dry_run || field === part_of?.by
          ? null
          : { code: 'not_in_archive', message: `The archive has no such record of ${table}.` },
      )
    }
    for (const [field, { ids }] of Object.entries(running.room.resource.columns)) {
      if (!ids) continue
      const all = [...rows.values()].map(({ data }) => data)
      const of_list = (data: Record<string, unknown>) => (Array.isArray(data[field]) ? data[field] : [])
      const new_ids = await newIds(running, ids.refers_to, all.flatMap(of_list))
      for (const data of all)
        if (data[field] !== undefined) data[field] = of_list(data).flatMap((id) => new_ids.get(id) ?? [])
    }
    const no_member = 'No member has the e-mail address of the owner.'
    replace(rows, 'owner_id', owners, notes, { code: 'no_such_member', message: no_member })
    for (const { data } of rows.values())
      if (Array.isArray(data.hosts)) data.hosts = hostsBy(owners, data.hosts)
    return notes
  }

/** The hosts of a booking page who are members of this workspace. */
const hostsBy = (owners: ReadonlyMap<unknown, string>, hosts: readonly unknown[]) =>
  (hosts as { user_id: unknown }[]).flatMap((host) => {
    const user_id = owners.get(host?.user_id)
    return user_id === undefined ? [] : [{ ...host, user_id }]
  })

/** Puts the new ids in place of the old ones, and null for unknown ones, with a note. */
function replace(
  rows: ReadonlyMap<FileRow, MappedRow>,
  field: string,
  ids: ReadonlyMap<unknown, unknown>,
  notes: RowError[],
  lack: Omit<Problem, 'field'> | null,
): void {
  for (const [row, { data }] of rows) {
    const old = data[field]
    if (old === undefined) continue
    data[field] = ids.get(old) ?? null
    if (!lack || old === null || data[field] !== null) continue
    const message = `${lack.message} The row is imported without ${field}.`
    notes.push({ row, field, code: lack.code, message })
  }
}

/** The records of this import by the ids that they had in the archive. */
async function newIds(
  { db, row: { workspace_id, id: import_id } }: Running,
  kind: string,
  found: readonly unknown[],
): Promise<Map<unknown, number>> {
  const ids = [...new Set(found.filter((id) => Number.isSafeInteger(id)))] as number[]
  if (!ids.length) return new Map()
  const rows = await db
    .selectFrom('import_changes')
    .select(['source_id', 'record_id'])
    .where((eb) => eb.and({ workspace_id, import_id, kind }))
    .where('source_id', 'in', ids)
    .execute()
  return new Map(rows.map(({ source_id, record_id }) => [source_id, record_id]))
}
