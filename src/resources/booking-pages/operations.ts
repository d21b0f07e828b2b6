import { readDefinitions } from '../../custom-fields/definitions.ts'
import type { Db, Tx } from '../../db/db.ts'
import { constraintOf } from '../../db/errors.ts'
import { countOf } from '../../db/lists/counts.ts'
import { lockEntry } from '../../db/locks.ts'
import { type FieldProblem, forbidden, invalid, refuse, refuseMore } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
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
import { findBySlug, lookAtReminders, membersAmong } from './queries.ts'
import { questionProblems, shownQuestions } from './questions.ts'
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
  const values = newValues(booking_pages, canonical(body, null)) as PageFields
  refuseLinks(context, values)
  refuse([...problems, ...(await pageProblems(tx, context, values, { before: null, problems }))])
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
  const values = changedValues(booking_pages, canonical(body, before), before) as Partial<PageFields>
  refuseLinks(context, values)
  refuse([...problems, ...(await pageProblems(tx, context, values, { before, problems }))])
  const { after } = await orSlugTaken(() => saveChanges(tx, context, bookingPageRecords, before, values))
  if (String(after.reminders_minutes) !== String(before.reminders_minutes))
    await lookAtReminders(tx, context, id)
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

/** A reader of events with links can change appointments. Throws 403 for a caller who may not do that. */
function refuseLinks({ scopes }: Context, { links_in_events }: Partial<PageFields>): void {
  if (links_in_events === true && scopes && !scopes.includes('appointments:write'))
    throw forbidden('Setting links_in_events needs the scope appointments:write.')
}

/** A body with the zone, the hosts and the questions as the page shows them. */
function canonical(body: BookingPageBody, before: BookingPage | null): BookingPageBody {
  const time_zone = canonicalTimeZone(body.time_zone)
  const hosts = Array.isArray(body.hosts)
    ? body.hosts.map((host) => {
        const known = before?.hosts.find(({ user_id }) => user_id === host?.user_id)
        const { stale_since = null } = known ?? {}
        return { user_id: host?.user_id, weight: host?.weight ?? 1, stale_since }
      })
    : body.hosts
  const questions = Array.isArray(body.questions) && shownQuestions(body.questions)
  return {
    ...body,
    ...(time_zone && { time_zone }),
    ...(hosts && { hosts }),
    ...(questions && { questions }),
  }
}

/** The problems of the opening hours, the hosts, the questions and the slug. A field that the schema refused is not looked up. */
async function pageProblems(
  tx: Tx,
  { workspace_id }: Context,
  values: Partial<PageFields>,
  { before, problems }: { before: BookingPage | null; problems: readonly FieldProblem[] },
): Promise<FieldProblem[]> {
  const isRefused = (name: string) => problems.some(({ field }) => field.split('.')[0] === name)
  const found: FieldProblem[] = ruleProblems(values)
  if (!isRefused('durations') && !isRefused('duration_minutes'))
    found.push(...durationProblems(values, before))
  if (!isRefused('embed_origins')) found.push(...originProblems(values))
  const { questions = [] } = values
  if (!isRefused('questions') && questions.length)
    found.push(
      ...questionProblems(questions, await readDefinitions(tx, { workspace_id, kind: 'appointments' })),
    )
  if (!isRefused('hosts') && !isRefused('assignment'))
    found.push(...(await hostProblems(tx, workspace_id, values, before)))
  const { slug } = values
  if (typeof slug !== 'string' || isRefused('slug')) return found
  const other = await findBySlug(tx, slug)
  return other && other.id !== before?.id ? [...found, slug_taken] : found
}

function durationProblems(values: Partial<PageFields>, before: BookingPage | null): FieldProblem[] {
  if (!('durations' in values || 'duration_minutes' in values)) return []
  const { durations = null, duration_minutes } = { ...before, ...values }
  const field = 'durations'
  if (durations && duration_minutes !== undefined && !durations.includes(duration_minutes))
    return [
      { field, code: 'invalid_value', message: `durations must have duration_minutes, ${duration_minutes}.` },
    ]
  return []
}

function originProblems({ embed_origins }: Partial<PageFields>): FieldProblem[] {
  return (embed_origins ?? []).flatMap((origin, i): FieldProblem[] => {
    const field = `embed_origins.${i}`
    return isEmbedOrigin(origin)
      ? []
      : [
          {
            field,
            code: 'invalid_format',
            message: `${field} must be an origin such as https://www.example.com, without a path.`,
          },
        ]
  })
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

function isEmbedOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.origin !== text || text.includes('*')) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname))
}

async function hostProblems(
  tx: Tx,
  workspace_id: number,
  values: Partial<PageFields>,
  before: BookingPage | null,
): Promise<FieldProblem[]> {
  if (!('hosts' in values || 'assignment' in values)) return []
  const { hosts, assignment } = { ...before, ...values }
  const ids = (hosts ?? []).map(({ user_id }) => user_id)
  if (assignment === 'fixed' && ids.length > 1)
    return [
      {
        field: 'hosts',
        code: 'too_many',
        message:
          'hosts must have at most 1 host with the assignment fixed. Choose round_robin or collective.',
      },
    ]
  // PostgreSQL takes no NUL, which is a problem of the text already.
  if (!('hosts' in values) || ids.some((id) => id.includes('\0'))) return []
  const members = await membersAmong(tx, workspace_id, ids)
  return ids.flatMap((id, i): FieldProblem[] => {
    const field = `hosts.${i}.user_id`
    if (ids.indexOf(id) < i) return [{ field, code: 'duplicate', message: `${field} is a host already.` }]
    return members.has(id)
      ? []
      : [{ field, code: 'not_found', message: `${field} must be the id of an active member.` }]
  })
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
