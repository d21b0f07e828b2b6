import type { FastifyRequest } from 'fastify'
import { localeProblems } from '../access/people/fields.ts'
import { holdMember } from '../across/views/queries.ts'
import { momentOf } from '../clock.ts'
import { type CalendarRow, isStale, type Owner, removeCalendar } from '../db/busy.ts'
import type { Tx } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { ApiError, type FieldProblem, orNotFound, refuse, refuseMore } from '../errors.ts'
import { any_session } from '../http/auth.ts'
import { endpoints } from '../http/endpoints.ts'
import { Single } from '../http/envelope.ts'
import { checkMatch, etagOf, sendRecord } from '../http/etag.ts'
import { ListQuery, NoFields } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { changesOf } from '../http/patch.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { hidden } from '../webhooks/registration/headers.ts'
import { checkUrl, type TargetPolicy, trimSpaces } from '../webhooks/registration/target.ts'
import { canonicalTimeZone } from '../zones/names.ts'
import {
  countCalendars,
  findCalendar,
  listCalendars,
  lockCalendar,
  shownCalendar,
  taggedCalendar,
} from './calendars.ts'
import type { Poller } from './poll.ts'
import {
  BusyCalendar,
  BusyCalendarCreate,
  type BusyCalendarFields,
  BusyCalendarParams,
  BusyCalendarUpdate,
  usual_minutes,
} from './schema.ts'

export type BusyService = Service & { poller: Poller; policy: TargetPolicy }

const path = '/api/v1/busy-calendars'
const most = 10
const refresh_every_ms = 2000
const changeable = ['name', 'url', 'username', 'password', 'time_zone', 'poll_minutes', 'stale_after_minutes']

const ownerOf = ({ access }: FastifyRequest): Owner => ({
  workspace_id: access.workspace_id,
  user_id: String(access.actor.id),
})

/** The calendars of the person who is signed in, whose times no booking page offers. */
export function busyCalendarRoutes(app: App, service: BusyService): void {
  const { db, clock, seal, policy } = service
  const shown = (row: CalendarRow) => shownCalendar(row, seal, momentOf(clock))
  const answered = (row: CalendarRow) => {
    const calendar = shown(row)
    return { record: taggedCalendar(calendar), shown: calendar }
  }
  const calendars = endpoints(app, service, {
    path,
    params: BusyCalendarParams,
    reads: any_session,
    noun: 'busy calendar',
  })

  calendars.create(
    {
      summary: 'Add a busy calendar',
      description: `Its times are not offered by booking pages on which the person is a host. The first poll begins at once. 409 above ${most} calendars of a person in a workspace.`,
      body: BusyCalendarCreate,
      view: BusyCalendar,
      conflict: true,
      prepare: ({ body }) => urlProblems(policy, body),
    },
    async (tx, { now, elapsed }, { request, body, problems, prepared }) => {
      const owner = ownerOf(request)
      refuse([...problems, ...prepared, ...keptProblems(body), ...localeProblems(body)])
      // The lock makes the limit exact, and a removal of the member waits.
      await holdMember(tx, owner.workspace_id, owner.user_id)
      refuseMore(
        'too_many_busy_calendars',
        await countCalendars(tx, owner),
        most,
        `A person has at most ${most} busy calendars`,
        'Delete one first.',
      )
      const row = {
        ...owner,
        id: newId('busy'),
        created_at: now,
        // It was never read.
        stale_since: now,
        run_at_ms: elapsed(),
        ...storedFields(service, body, null),
      }
      const made = await tx
        .insertInto('busy_calendars')
        .values(row as never)
        .returningAll()
        .executeTakeFirstOrThrow()
      tx.announce('busy')
      return answered(made)
    },
  )

  calendars.list(
    { summary: 'List the own busy calendars', query: ListQuery({}), view: BusyCalendar },
    async (request, { page }) => {
      const { records, ...found } = await listCalendars(db, ownerOf(request), page)
      return { records: records.map(shown), ...found }
    },
  )

  calendars.read(
    { summary: 'Read an own busy calendar', view: BusyCalendar },
    async (request) => {
      const row = await findCalendar(db, ownerOf(request), request.params.calendar_id)
      return row && shown(row)
    },
    (request, reply, calendar) =>
      sendRecord(request, reply, calendar, undefined, etagOf(taggedCalendar(calendar))),
  )

  calendars.change(
    {
      summary: 'Change an own busy calendar',
      description: 'A new `url` is polled at once, and the times of the old one no longer count.',
      body: BusyCalendarUpdate,
      view: BusyCalendar,
      prepare: ({ body }) => urlProblems(policy, body),
    },
    async (tx, { now, elapsed }, { request, params, body, problems, prepared, expect }) => {
      const row = await existing(tx, request, params.calendar_id)
      const before = answered(row)
      expect(before.record)
      const changes = changesOf(body, before.shown, changeable)
      const wrong = [
        ...keptProblems(changes),
        ...localeProblems(changes),
        ...otherHost(service, row, changes),
      ]
      refuse([...problems, ...prepared, ...wrong])
      if (!Object.keys(changes).length) return before
      const again = ['url', 'username', 'password', 'time_zone'].some((name) => name in changes)
      const { workspace_id, id } = row
      const fields = storedFields(service, changes, row)
      const after = await tx
        .updateTable('busy_calendars')
        .set({
          ...fields,
          stale_since: isStale({ ...row, ...fields }, elapsed()) ? (row.stale_since ?? now) : null,
          ...(changes.poll_minutes !== undefined && sooner({ ...row, ...fields })),
          // A poll that runs has the old values: without its claim it writes nothing.
          ...(again && { etag: null, last_modified: null, run_at_ms: elapsed(), claim_id: null }),
          ...(changes.url !== undefined && forgotten(row, now)),
        } as never)
        .where((eb) => eb.and({ workspace_id, id }))
        .returningAll()
        .executeTakeFirstOrThrow()
      if (again) tx.announce('busy')
      return answered(after)
    },
  )

  calendars.remove({ summary: 'Delete an own busy calendar' }, async (tx, _, { request, params, expect }) => {
    const row = await existing(tx, request, params.calendar_id)
    expect(answered(row).record)
    await removeCalendar(tx, row.workspace_id, row.id)
  })

  refreshRoute(app, service, answered)
}

const existing = async (tx: Tx, request: FastifyRequest, id: string): Promise<CalendarRow> =>
  orNotFound('busy calendar', await lockCalendar(tx, ownerOf(request), id))

const isHidden = (url: string) => url.endsWith(`/${hidden}`)

/** The problems of `***` in the values of a new calendar, or in those that differ from what a calendar shows. */
function keptProblems({ url, password }: BusyCalendarFields): FieldProblem[] {
  const fields = [
    ...(typeof url === 'string' && isHidden(url) ? ['url'] : []),
    ...(password === hidden ? ['password'] : []),
  ]
  return fields.map((field) => ({
    field,
    code: 'not_found',
    message: `${field} has no stored value that *** could keep. Send the value.`,
  }))
}

/** The problems of a new address. `webcal:` becomes `https:`. */
async function urlProblems(policy: TargetPolicy, body: BusyCalendarFields): Promise<FieldProblem[]> {
  if (typeof body.url !== 'string' || isHidden(body.url)) return []
  body.url = trimSpaces(body.url).replace(/^webcals?:/i, 'https:')
  const checked = await checkUrl(body.url, policy)
  return 'code' in checked ? [{ field: 'url', code: checked.code, message: checked.message }] : []
}

/** A shorter time between polls counts from the last reading. A poll that runs, or that is repeated after an error, stays. */
const sooner = ({ run_at_ms, last_read_ms, poll_minutes, claim_id, failures }: CalendarRow) =>
  claim_id === null &&
  Number(failures) === 0 &&
  last_read_ms !== null && {
    run_at_ms: Math.min(Number(run_at_ms), Number(last_read_ms) + Number(poll_minutes) * 60_000),
  }

/** Nobody can read the stored password, so nobody may send it to a host of their own either. */
function otherHost(
  { seal }: BusyService,
  row: CalendarRow,
  { url, password }: BusyCalendarFields,
): FieldProblem[] {
  if (url === undefined || row.password === null || password !== undefined) return []
  if (URL.parse(url)?.origin === new URL(seal.open(row.url)).origin) return []
  const message = 'password must be sent again, or be null: the new url leads to another host.'
  return [{ field: 'password', code: 'other_origin', message }]
}

/** The columns of sent fields, null for the default. */
function storedFields({ seal }: BusyService, fields: BusyCalendarFields, row: CalendarRow | null) {
  const { name, url, username, password, time_zone, poll_minutes, stale_after_minutes } = fields
  const address = url ?? (row ? seal.open(row.url) : '')
  const minutes = (field: 'poll_minutes' | 'stale_after_minutes', value: number | null | undefined) =>
    value === undefined && row ? undefined : (value ?? usual_minutes(field))
  const columns = {
    name: name === undefined && row ? undefined : (name ?? URL.parse(address)?.hostname ?? 'Calendar'),
    url: url === undefined ? undefined : seal.seal(url),
    username,
    password: typeof password === 'string' ? seal.seal(password) : password,
    time_zone: time_zone && (canonicalTimeZone(time_zone) ?? time_zone),
    poll_minutes: minutes('poll_minutes', poll_minutes),
    stale_after_minutes: minutes('stale_after_minutes', stale_after_minutes),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

/**
 * A calendar of which nothing is known: the times of another address are not its times, also not those of the next generation, which a
 * poll may be writing.
 */
const forgotten = ({ generation }: CalendarRow, now: string) => ({
  stale_since: now,
  generation: Number(generation) + 2,
  digest: null,
  busy_count: 0,
  skipped: '[]',
  skipped_count: 0,
  last_read_at: null,
  last_read_ms: null,
  expanded_ms: null,
  last_attempt_at: null,
  error_code: null,
  error_message: null,
  failures: 0,
})

/** POST that polls a calendar now: the answer waits for the poll. */
function refreshRoute(
  app: App,
  service: BusyService,
  answered: (row: CalendarRow) => { record: object; shown: object },
): void {
  const { write, clock, poller } = service
  operation(
    app,
    {
      method: 'POST',
      path: `${path}/:calendar_id/refresh`,
      id: 'refreshBusyCalendar',
      scope: any_session,
      summary: 'Poll an own busy calendar now and wait for the outcome',
      description: 'Waits for a poll that runs. 200 also if it fails: see `status`. 429 above one in 2 s.',
      params: BusyCalendarParams,
      body: NoFields,
      answers: { 200: Single(BusyCalendar) },
      repeatable: true,
      guarded: true,
    },
    (request, reply) =>
      write.inSteps(request, reply, {
        async before(tx, _, problems) {
          const row = await existing(tx, request, request.params.calendar_id)
          checkMatch(request, answered(row).record)
          refuse(problems)
          const now_ms = clock.elapsed()
          const wait_ms = Number(row.refreshed_ms ?? 0) + refresh_every_ms - now_ms
          if (row.refreshed_ms !== null && wait_ms > 0) {
            const headers = { 'retry-after': String(Math.ceil(wait_ms / 1000)) }
            throw new ApiError('rate_limited', 'A calendar can be refreshed once in 2 s.', { headers })
          }
          const { workspace_id, id } = row
          await tx
            .updateTable('busy_calendars')
            .set({ refreshed_ms: now_ms })
            .where((eb) => eb.and({ workspace_id, id }))
            .execute()
          return { workspace_id, id }
        },
        meanwhile: ({ workspace_id, id }, stopping) => poller.pollNow(workspace_id, id, stopping),
        after: async (tx, _, { id }) =>
          answered(orNotFound('busy calendar', await findCalendar(tx, ownerOf(request), id))),
      }),
  )
}
