import type { Db } from '../../db/db.ts'
import { fitting } from '../../db/sizes.ts'
import type { Mark, Source } from './sources.ts'

/** The position of an entry: its time, the rank of its type, its id. */
export type TimelinePosition = readonly [string, number, number]

type SourcedMark = Mark & { source: Source }
// The limit of the long texts of a page. As JSON a character may take six times its bytes.
const long_bytes = 512 * 1024
const beyond = Number.MAX_SAFE_INTEGER
const first: TimelinePosition = ['9999-12-31T23:59:59.999Z', beyond, 0]

/**
 * One page of the timeline of a record, from these sources, newest first: the entries after a position (null: the newest).
 * They are JSON texts. `next` is null at the end. A page of long texts has fewer entries.
 */
export async function listTimeline(
  db: Db,
  sources: readonly Source[],
  { workspace_id, owner_id }: { workspace_id: number; owner_id: number },
  { per_page, after }: { per_page: number; after: TimelinePosition | null },
): Promise<{ entries: string[]; next: TimelinePosition | null }> {
  const [at, rank, id] = after ?? first
  const query = { workspace_id, owner_id, record_id: String(owner_id), at, limit: per_page + 1 }
  // Read a whole page from each source, so that the newest of all sources are among them.
  const found = await Promise.all(
    sources.map(async (source): Promise<SourcedMark[]> => {
      // Among entries of the same time, those with a lower rank follow, then those with a lower id.
      const below = source.rank < rank ? beyond : source.rank === rank ? id : 0
      const marks = await source.marks(db, { ...query, below })
      return marks.map((mark) => ({ ...mark, source }))
    }),
  )
  const sorted = found.flat().sort(newestFirst)
  const sizes = sorted.slice(0, per_page).map(({ bytes = 0 }) => ({ bytes }))
  const page = sorted.slice(0, fitting(sizes, long_bytes).count)
  const last = sorted.length > page.length ? page.at(-1) : undefined
  const shown = await loadAll(db, workspace_id, page)
  const entries = page.flatMap(({ at, id, source }) => {
    const data = shown.get(source)?.get(id)
    // The record may have been soft-deleted since.
    return data ? [`{"at":"${at}","type":"${source.type}","id":${id},"data":${data}}`] : []
  })
  return { entries, next: last ? [last.at, last.source.rank, last.id] : null }
}

const newestFirst = (a: SourcedMark, b: SourcedMark) =>
  a.at === b.at ? b.source.rank - a.source.rank || b.id - a.id : a.at < b.at ? 1 : -1

/** The data of the entries of a page, by source and id. */
async function loadAll(db: Db, workspace_id: number, page: SourcedMark[]) {
  const by_source = [...Map.groupBy(page, ({ source }) => source)]
  const loaded = by_source.map(async ([source, found]) => {
    const ids = found.map(({ id }) => id)
    return [source, await source.load(db, workspace_id, ids)] as const
  })
  return new Map(await Promise.all(loaded))
}
