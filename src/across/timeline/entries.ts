import type { Db } from '../../db/db.ts'
import { fitting } from '../../db/sizes.ts'
import { changes, stageChanges } from './changes.ts'
import { type EntryType, entry_types, type TimelineEntry } from './schema.ts'
import { type Mark, type Owner, sources } from './sources.ts'

/** Records of a resource by their ids, as its list shows them; those that are not live may be missing. */
type Load = (db: Db, workspace_id: number, ids: number[]) => Promise<({ id: number } & object)[]>

/** How each resource shows its records. */
export type Views = Record<'note' | 'activity' | 'appointment' | 'deal', Load>

/** The place of an entry: its time, the number of its type, its id. */
export type Place = readonly [string, number, number]

/** Whose timeline, and which types of entries it may show. */
type Of = { workspace_id: number; owner: Owner; owner_id: number; types: readonly EntryType[] }

type Found = Mark & { rank: number }
// A page ends at so much text of notes. As JSON a character may take six times its bytes; the rest of a page is short.
const note_bytes = 512 * 1024
const first: Place = ['9999-12-31T23:59:59.999Z', entry_types.length, 0]
const beyond = Number.MAX_SAFE_INTEGER

/**
 * One page of a timeline, newest first, before a place (null: from the newest); `next` is null at the end. A page of long
 * notes has fewer entries.
 */
export async function listTimeline(
  db: Db,
  views: Views,
  { workspace_id, owner, owner_id, types }: Of,
  { per_page, after }: { per_page: number; after: Place | null },
): Promise<{ entries: TimelineEntry[]; next: Place | null }> {
  const [at, rank, id] = after ?? first
  const asked = { workspace_id, owner_id, record_id: String(owner_id), at, limit: per_page + 1 }
  // Each gives as many as the page can hold, so that the newest of all are among them.
  const found = await Promise.all(
    entry_types.map(async (type, own): Promise<Found[]> => {
      // Of entries of the place's own time, those of lower types follow, and of its type those of lower ids.
      const below = own < rank ? beyond : own === rank ? id : 0
      const source = types.includes(type) ? sources[owner][type] : undefined
      const marks = (await source?.(db, { ...asked, below })) ?? []
      return marks.map((mark) => ({ ...mark, rank: own }))
    }),
  )
  const sorted = found.flat().sort(newestFirst)
  const sizes = sorted.slice(0, per_page).map(({ bytes = 0 }) => ({ bytes }))
  const page = sorted.slice(0, fitting(sizes, note_bytes).count)
  const last = sorted.length > page.length ? page.at(-1) : undefined
  const data = await loadAll(db, views, workspace_id, page)
  const entries = page.flatMap(({ at, id, rank }): TimelineEntry[] => {
    const type = typeOf(rank)
    const shown = data[type]?.get(id)
    // It may have gone to the trash since.
    return shown ? [{ at, type, id, data: shown }] : []
  })
  return { entries, next: last ? [last.at, last.rank, last.id] : null }
}

const newestFirst = (a: Found, b: Found) =>
  a.at === b.at ? b.rank - a.rank || b.id - a.id : a.at < b.at ? 1 : -1

const typeOf = (rank: number) => entry_types[rank] as EntryType

type Shown = Map<number, object>

/** What the entries of a page show, by type and id. */
async function loadAll(db: Db, views: Views, workspace_id: number, page: Found[]) {
  const idsOf = (type: EntryType) => page.flatMap(({ rank, id }) => (typeOf(rank) === type ? id : []))
  const view = async (type: keyof Views): Promise<Shown> => {
    const ids = idsOf(type)
    const rows = ids.length ? await views[type](db, workspace_id, ids) : []
    return new Map(rows.map((row) => [row.id, row]))
  }
  const [note, activity, appointment, deal, stage_change, change] = await Promise.all([
    view('note'),
    view('activity'),
    view('appointment'),
    view('deal'),
    stageChanges(db, workspace_id, idsOf('stage_change')),
    changes(db, workspace_id, idsOf('change')),
  ])
  return { note, activity, appointment, deal, stage_change, change }
}
