import { setImmediate as turn } from 'node:timers/promises'
import { type SqlBool, sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { createPageSize, type PageSize } from '../../db/lists/page-size.ts'
import { engineOf } from '../../db/tx.ts'
import type { Actor } from '../../events/context.ts'
import { tar_end, tarFile } from '../../files/tar.ts'
import type { Room } from '../../resources/room.ts'

type Row = { id: number; text: string }

/** Rows of one kind as JSON: those after an id, oldest first. */
export type Source = {
  name: string
  read(db: Db, workspace_id: number, after: number, limit: number): Promise<Row[]>
}

/** Everything that an archive has besides records, such as the members, as the reader sees it. It fits into memory. */
export type Others = Record<string, (db: Db, reader: Reader) => Promise<object[]>>
type Reader = { workspace_id: number; actor: Actor }

// SQLite runs in this process, so a page must not block the event loop for more than a few ms.
const rows_at_once = { sqlite: 250, postgres: 1000 }
// tar needs the size of a file before its content, so a long kind has several files.
const max_file_bytes = 4 * 1024 * 1024

/**
 * The sources of all records, as their detail views, and of the rows that belong to them. Not those in the trash, and not the rows of
 * lists of ids, which the views have.
 */
export const sourcesOf = (rooms: readonly Room[]): Source[] =>
  rooms.flatMap((room) => {
    const { owns, columns } = room.resource
    const lists = Object.values(columns).map(({ ids }) => ids?.table)
    const owned = Object.entries(owns).filter(([table]) => !lists.includes(table))
    return [recordSource(room), ...owned.map(([table, by]) => ownedSource(room, table, by))]
  })

const recordSource = ({ detailed: { table, select } }: Room): Source => ({
  name: table,
  async read(db, workspace_id, after, limit) {
    const column = (name: string) => sql.ref(`${table}.${name}`)
    const of_page = sql<SqlBool>`${column('workspace_id')} = ${workspace_id} AND ${column('deleted_at')} IS NULL
      AND ${column('id')} > ${after}`
    const order = sql`ORDER BY ${column('id')} LIMIT ${limit}`
    return (await select<Row>(db, { columns: ['id'], where: of_page, order }).execute(db)).rows
  },
})

const ownedSource = ({ resource }: Room, table: string, by: string): Source => ({
  name: table,
  async read(db, workspace_id, after, limit) {
    const { rows } = await sql<{ id: number; workspace_id: number }>`SELECT t.* FROM ${sql.table(table)} AS t
      JOIN ${sql.table(resource.table)} AS owner
        ON owner.workspace_id = t.workspace_id AND owner.id = t.${sql.ref(by)} AND owner.deleted_at IS NULL
      WHERE t.workspace_id = ${workspace_id} AND t.id > ${after} ORDER BY t.id LIMIT ${limit}`.execute(db)
    return rows.map(({ workspace_id: _, ...row }) => ({ id: row.id, text: JSON.stringify(row) }))
  },
})

/** The bytes of a tar archive. Each kind has a file of JSON lines, a long one several. */
export async function* archive(
  db: Db,
  reader: Reader,
  { sources, others, clock }: { sources: readonly Source[]; others: Others; clock: Clock },
): AsyncGenerator<Buffer> {
  const now_s = Math.floor(clock.now() / 1000)
  const file = (name: string, part: number, lines: string) => {
    const full_name = `${name}-${String(part).padStart(4, '0')}.ndjson`
    return tarFile(full_name, Buffer.from(lines), now_s)
  }
  for (const [name, read] of Object.entries(others))
    yield file(name, 1, (await read(db, reader)).map((row) => `${JSON.stringify(row)}\n`).join(''))
  for (const source of sources) {
    let part = 1
    let lines = ''
    const size = createPageSize(rows_at_once[engineOf(db)])
    for await (const rows of pagesOf(db, reader.workspace_id, source, size)) {
      let page_length = 0
      for (const { text } of rows) {
        const line = `${text}\n`
        page_length += line.length
        lines += line
        if (lines.length < max_file_bytes) continue
        yield file(source.name, part++, lines)
        lines = ''
      }
      size.measured(page_length)
    }
    if (lines || part === 1) yield file(source.name, part, lines)
  }
  yield tar_end
}

async function* pagesOf(
  db: Db,
  workspace_id: number,
  { read }: Source,
  size: PageSize,
): AsyncGenerator<Row[]> {
  for (let after = 0; ; ) {
    const rows = await read(db, workspace_id, after, size.rows())
    const last = rows.at(-1)
    if (!last) return
    yield rows
    after = last.id
    await turn()
  }
}
