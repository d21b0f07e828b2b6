import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { pending_removal } from '../../db/records.ts'
import { bytesOf, fitting } from '../../db/sizes.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { RecordText } from '../writing/records.ts'
import { selectionOf } from '../writing/selection.ts'
import type { NoteKind } from './resource.ts'

type OfOwner = { workspace_id: number; owner_id: number }

// The names of the authors are the longest part of it.
const bytes_beside_body = 2500

/** Reads and moves the notes of one kind. They are reached only through a live record: they go to the trash with it. */
export function noteQueries({ resource, of, by }: NoteKind) {
  const { select } = selectionOf(resource, resource.columns)
  const table = sql.table(resource.table)
  const column = (name: string) => sql.ref(`${resource.table}.${name}`)
  const ofOwner = ({ workspace_id, owner_id }: OfOwner) => sql<SqlBool>`
    ${column('workspace_id')} = ${workspace_id} AND ${column(by)} = ${owner_id}`
  const reachable = (p: OfOwner, condition: RawBuilder<SqlBool>) => sql<SqlBool>`
    ${ofOwner(p)} AND ${condition} AND ${column('deleted_at')} IS NULL AND EXISTS (
      SELECT 1 FROM ${sql.table(of)} WHERE workspace_id = ${p.workspace_id} AND id = ${p.owner_id} AND deleted_at IS NULL)`
  const newest_first = sql`ORDER BY ${column('id')} DESC`

  type Size = { id: number; bytes: number }
  const sizes = prepare(
    (
      p: OfOwner & { below: number; limit: number },
    ) => sql<Size>`SELECT ${column('id')}, ${bytesOf('body')} AS bytes FROM ${table}
        WHERE ${reachable(p, sql`${column('id')} < ${p.below}`)} ${newest_first} LIMIT ${p.limit}`,
  )
  const between = prepare((p: OfOwner & { below: number; from: number }, db) => {
    const ids = sql<SqlBool>`${column('id')} < ${p.below} AND ${column('id')} >= ${p.from}`
    return select<{ id: number; text: string }>(db, {
      columns: ['id'],
      where: reachable(p, ids),
      order: newest_first,
    })
  })
  const byId = prepare((p: OfOwner & { id: number }, db) =>
    select<RecordText>(db, { columns: ['updated_at'], where: reachable(p, sql`${column('id')} = ${p.id}`) }),
  )

  return {
    /**
     * Measures the newest notes of a live record below an id, up to `max_bytes` and `limit` notes. Returns their lowest id
     * (null without notes), their bytes, and whether there are more.
     */
    async measure(
      db: Db,
      range: OfOwner & { below: number },
      { limit, max_bytes }: { limit: number; max_bytes: number },
    ): Promise<{ from: number | null; bytes: number; more: boolean }> {
      const found = await sizes(db, { ...range, limit: limit + 1 })
      const notes = found.slice(0, limit).map(({ bytes }) => ({ bytes: bytes + bytes_beside_body }))
      const { count, bytes } = fitting(notes, max_bytes)
      return { from: found[count - 1]?.id ?? null, bytes, more: count < found.length }
    },
    /**
     * The notes of a live record with ids from `from` to below `below` as JSON, newest first. Above `max_bytes`, `next` is the
     * id of the last one: as JSON a character may take six times its bytes.
     */
    async list(db: Db, range: OfOwner & { below: number; from: number }, max_bytes: number) {
      const found = await between(db, range)
      const { count } = fitting(
        found.map(({ text }) => ({ bytes: Buffer.byteLength(text) + 1 })),
        max_bytes,
      )
      const notes = found.slice(0, count).map(({ text }) => text)
      return { notes, next: count < found.length ? (found[count - 1]?.id ?? null) : null }
    },
    /** A note of a live record as JSON, or null. */
    text: async (db: Db, note: OfOwner & { id: number }): Promise<RecordText | null> =>
      (await byId(db, note))[0] ?? null,
    /** The number of notes of a record, without soft-deleted ones. */
    async count(db: Db, owner: OfOwner): Promise<number> {
      const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${table}
        WHERE ${ofOwner(owner)} AND deleted_at IS NULL`.execute(db)
      return Number(rows[0]?.n)
    },
    /** The record of a note, also of one in the trash; undefined without it. */
    async ownerOf(tx: Tx, workspace_id: number, id: number): Promise<number | undefined> {
      const { rows } = await sql<{ owner_id: number }>`SELECT ${column(by)} AS owner_id FROM ${table}
        WHERE workspace_id = ${workspace_id} AND id = ${id}`.execute(tx)
      return rows[0]?.owner_id
    },
    /** Moves a live note to the trash (`deleted_at` set), or back (null). No shown field changes. */
    async move(tx: Tx, workspace_id: number, id: number, deleted_at: string | null): Promise<void> {
      await sql`UPDATE ${table} SET deleted_at = ${deleted_at}
        WHERE workspace_id = ${workspace_id} AND id = ${id}`.execute(tx)
    },
    /** Whether a note of a record was moved to the trash by itself. */
    async isInTrash(tx: Tx, { id, ...owner }: OfOwner & { id: number }): Promise<boolean> {
      const { rows } = await sql`SELECT 1 FROM ${table}
        WHERE ${ofOwner(owner)} AND id = ${id} AND deleted_at > ${pending_removal.erasing}`.execute(tx)
      return rows.length > 0
    },
  }
}
