import type { Db, Tx } from '../../db/db.ts'
import { constraintOf } from '../../db/errors.ts'
import { countOf } from '../../db/lists/counts.ts'
import { lockEntry } from '../../db/locks.ts'
import { type FieldProblem, invalid, refuse, refuseMore } from '../../errors.ts'
import { canonicalTimeZone } from '../../zones/names.ts'
import { changedValues, newValues } from '../writing/input.ts'
import {
  addRecord,
  type Change,
  type Create,
  lockRecord,
  moveFromTrash,
  type Restore,
  saveChanges,
  standardOperations,
} from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import { ruleProblems } from './availability.ts'
import { findBySlug } from './queries.ts'
import { booking_pages } from './resource.ts'
import { type BookingPage, type BookingPageBody, max_slug_length, type PageFields } from './schema.ts'

/** Live pages that a workspace can have. */
export const max_pages = 100

export const bookingPageRecords = recordsOf<BookingPage, PageFields>(booking_pages)

/** The page that visitors see at an address, of any workspace: live and active, or null. */
export async function findPublicPage(
  db: Db,
  slug: string,
): Promise<{ workspace_id: number; page: BookingPage } | null> {
  const found = await findBySlug(db, slug)
  if (!found) return null
  const { workspace_id, id } = found
  const page = await bookingPageRecords.find(db, workspace_id, id)
  return page?.active ? { workspace_id, page } : null
}

/** Adds a booking page. 409 beyond 100 live pages; the catalogue has no event for it. */
export const createBookingPage: Create<BookingPage, BookingPageBody> = async (
  tx,
  context,
  body,
  problems,
) => {
  const values = newValues(booking_pages, withCanonicalZone(body)) as PageFields
  refuse([...problems, ...(await pageProblems(tx, values, null, problems))])
  await lockPlace(tx, context.workspace_id)
  const page = await orSlugTaken(() => addRecord(tx, context, bookingPageRecords, values))
  return page
}

/** Adds a booking page of an archive. A slug that another page has gets a number. */
export const createArchivedPage: Create<BookingPage, BookingPageBody> = async (
  tx,
  context,
  body,
  problems,
) => {
  refuse(problems)
  const { slug } = body
  return createBookingPage(tx, context, slug ? { ...body, slug: await freeSlug(tx, slug) } : body, problems)
}

async function freeSlug(tx: Tx, slug: string): Promise<string> {
  // One more than the pages that can have them would do, but each costs a query.
  for (let n = 1; n <= max_pages; n++) {
    const end = n === 1 ? '' : `-${n}`
    const free = slug.slice(0, max_slug_length - end.length) + end
    if (!(await findBySlug(tx, free))) return free
  }
  return slug
}

/** Changes a booking page; appointments that are booked already stay. */
export const changeBookingPage: Change<BookingPage, BookingPageBody> = async (
  tx,
  context,
  id,
  body,
  { problems, expect },
) => {
  const before = await lockRecord(tx, context, bookingPageRecords, id, expect)
  const values = changedValues(booking_pages, withCanonicalZone(body), before) as Partial<PageFields>
  refuse([...problems, ...(await pageProblems(tx, values, id, problems))])
  const { after } = await orSlugTaken(() => saveChanges(tx, context, bookingPageRecords, before, values))
  return after
}

export const { remove: deleteBookingPage } = standardOperations(bookingPageRecords)

/** Brings a booking page back from the trash. 409 when its slug is taken, or beyond 100 live pages. */
export const restoreBookingPage: Restore<BookingPage> = async (tx, context, id, sent) => {
  const lockPlaceOf = async (tx: Tx, workspace_id: number, id: number) => {
    if (!(await bookingPageRecords.find(tx, workspace_id, id))) await lockPlace(tx, workspace_id)
  }
  return (await moveFromTrash(tx, context, bookingPageRecords, id, sent, lockPlaceOf)).record
}

/** Locks the number of live pages of a workspace. Throws 409 if the limit is reached. */
async function lockPlace(tx: Tx, workspace_id: number): Promise<void> {
  await lockEntry(tx, 'workspaces', workspace_id)
  const limit = `A workspace has at most ${max_pages} booking pages`
  refuseMore(
    'too_many_booking_pages',
    await countOf(tx, workspace_id, 'booking_pages'),
    max_pages,
    limit,
    'Delete one first.',
  )
}

function withCanonicalZone(body: BookingPageBody): BookingPageBody {
  const time_zone = canonicalTimeZone(body.time_zone)
  return time_zone ? { ...body, time_zone } : body
}

/** The problems of the opening hours and of the slug. A slug that the schema refused is not looked up. */
async function pageProblems(
  tx: Tx,
  values: Partial<PageFields>,
  except_id: number | null,
  problems: readonly FieldProblem[],
): Promise<FieldProblem[]> {
  const { slug } = values
  const found = ruleProblems(values)
  if (typeof slug !== 'string' || problems.some(({ field }) => field === 'slug')) return found
  const other = await findBySlug(tx, slug)
  return other && other.id !== except_id ? [...found, slug_taken] : found
}

const slug_taken: FieldProblem = {
  field: 'slug',
  code: 'taken',
  message: 'slug is taken by another booking page.',
}

// Of two concurrent pages with one slug, the database refuses the second.
async function orSlugTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw constraintOf(error) === 'booking_pages_slug' ? invalid([slug_taken]) : error
  }
}
