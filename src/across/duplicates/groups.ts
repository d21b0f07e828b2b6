import { setImmediate as others } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Listed } from '../../db/lists/lists.ts'
import { type MatchKey, match_keys } from '../../db/lists/match-keys.ts'
import type { DuplicateReason, Resource } from '../../resources/resource.ts'
import { dismissedFor, remaining } from './dismissals.ts'
import { isTelling, type Member } from './members.ts'

/** Records that are likely the same, with their lowest ids first. */
export type Group = { reason: DuplicateReason; ids: number[] }

/** A place in the groups: the reason, and the last value that was looked at. */
export type Place = { reason: DuplicateReason; key: string }

/** The most ids of a group. A shared address, such as info@, may have more records. */
export const max_ids = 20

// This many entries of an index are read in about 5 ms.
const slice = 5000
// A page ends early after this time. So the first page comes within 200 ms, however few duplicates there are.
const max_ms = 100

type Search = {
  resource: Resource
  workspace_id: number
  after: Place | null
  limit: number
}

/**
 * Groups of live records with an equal value, by one index after the other, best reason first. It reads parts of an index
 * in order, so its time does not grow with the table. A page may have fewer groups than `limit`, and still a next one.
 */
export async function findGroups(
  db: Db,
  { resource, workspace_id, after, limit }: Search,
): Promise<Listed<Group>> {
  const { table, duplicates: reasons } = resource
  const until = performance.now() + max_ms
  const records: Group[] = []
  const first = after ? reasons.indexOf(after.reason) : 0
  for (const reason of reasons.slice(Math.max(0, first))) {
    const index = { table, workspace_id, ...match_keys[reason] }
    let last: string | null = reason === after?.reason ? after.key : ''
    while (last !== null) {
      const { keys, end }: Keys = await sharedKeys(db, index, last, limit - records.length)
      for (const key of keys) {
        const ids = await idsOf(db, index, resource, reason, key)
        if (ids) records.push({ reason, ids })
      }
      last = end
      const is_over = records.length === limit || performance.now() > until
      if (is_over && last !== null) return { records, total: null, next: [reason, last] }
      await others()
    }
  }
  return { records, total: null, next: null }
}

type Index = MatchKey & { table: string; workspace_id: number }
type Keys = { keys: string[]; end: string | null }

const entriesOf = ({ table, workspace_id, where }: Index, condition: RawBuilder<unknown>) =>
  sql`FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND ${where} AND ${condition}`

/** Keys after a key that more than one record has, in order; `end` is the last key that was looked at, null for all. */
async function sharedKeys(db: Db, index: Index, after: string, limit: number): Promise<Keys> {
  const { key } = index
  const later = sql`${key} > ${after}`
  const { rows: ends } = await sql<{ key: string }>`SELECT ${key} AS key ${entriesOf(index, later)}
    ORDER BY ${key} LIMIT 1 OFFSET ${sql.lit(slice)}`.execute(db)
  const end = ends[0]?.key ?? null
  const within = end === null ? later : sql`${later} AND ${key} < ${end}`
  const { rows } = await sql<{ key: string }>`SELECT ${key} AS key ${entriesOf(index, within)}
    GROUP BY ${key} HAVING count(*) > 1 ORDER BY ${key} LIMIT ${limit}`.execute(db)
  const keys = rows.map((row) => row.key)
  if (keys.length === limit) return { keys, end: keys.at(-1) ?? null }
  // The records of the last key may be many, and are not counted. idsOf finds whether there is a second one.
  return { keys: end === null ? keys : [...keys, end], end }
}

/** The ids of a key's records; null if it makes no group, was dismissed, or if a better reason has the same group. */
async function idsOf(
  db: Db,
  index: Index,
  { table: kind, duplicates: reasons }: Resource,
  reason: DuplicateReason,
  key: string,
): Promise<number[] | null> {
  if (!isTelling(reason, key)) return null
  const { workspace_id } = index
  const dismissed = await dismissedFor(db, { workspace_id, kind, reason, value: key })
  // Records that are left out make room for others.
  const most = max_ids + new Set(dismissed.flatMap((pair) => Object.values(pair))).size
  const better = reasons.slice(0, reasons.indexOf(reason))
  const columns = [sql`id`, ...better.map((one) => sql`${match_keys[one].key} AS ${sql.ref(one)}`)]
  const { rows } =
    await sql<Member>`SELECT ${sql.join(columns)} ${entriesOf(index, sql`${index.key} = ${key}`)}
    ORDER BY id LIMIT ${sql.lit(most)}`.execute(db)
  const [one] = rows
  const ids = remaining(
    rows.map(({ id }) => id),
    dismissed,
  )
  if (!one || ids.length < 2) return null
  const isSame = (other: DuplicateReason) =>
    isTelling(other, one[other] ?? '') && rows.every((row) => row[other] === one[other])
  if (rows.length < most && better.some(isSame)) return null
  return ids.slice(0, max_ids)
}
