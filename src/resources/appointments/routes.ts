import { Type } from 'typebox'
import type { Db, Reading } from '../../db/db.ts'
import { links, referenceProblems } from '../../db/references.ts'
import { List, Single } from '../../http/envelope.ts'
import { type FieldProblem, invalid } from '../../http/errors.ts'
import { checkMatch } from '../../http/etag.ts'
import { Id, IdParams, NoFields, time } from '../../http/fields.ts'
import { dateFilters, listAnswer, listingOf, RecordsQuery } from '../../http/lists.ts'
import { changesOf } from '../../http/patch.ts'
import { recordRoutes } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Writer } from '../../http/write.ts'
import {
  acceptRequest,
  appointmentToChange,
  cancelAppointment,
  changeAppointment,
  createAppointment,
  declineRequest,
  holdTimes,
  holdTimesOf,
  tellDeleted,
  tellRestored,
} from './changes.ts'
import { listAppointments, orders } from './list.ts'
import { counted, findAppointment, storedPage } from './queries.ts'
import { answer_hours } from './requests.ts'
import {
  Appointment,
  AppointmentCreate,
  type AppointmentFields,
  AppointmentUpdate,
  appointment_fields,
  Cancellation,
  ListedAppointment,
  Status,
} from './schema.ts'

const path = '/api/v1/appointments'
const extension = { 'x-extension': true }
const references = links.appointments

const AppointmentsQuery = RecordsQuery(orders, {
  status: Type.Optional(Status()),
  type: Type.Optional(Type.String({ maxLength: 64 })),
  contact_id: Type.Optional(Id()),
  booking_page_id: Type.Optional(Id()),
  start_from: time('Starts at or after this time.'),
  start_to: time('Starts at or before this time.'),
  end_from: time('Ends at or after this time: with start_to, all that take place in a time.'),
})

type Deps = { db: Db; reading: Reading; write: Writer }

/** The appointments resource: an extension of the interface, with appointment.* events. */
export function appointmentRoutes(app: App, { db, reading, write }: Deps): void {
  const writing = { config: { scope: 'appointments:write' } }
  const answer = { 200: Single(Appointment) }

  app.get(
    path,
    {
      config: { scope: 'appointments:read' },
      schema: {
        ...extension,
        summary: 'List appointments',
        querystring: AppointmentsQuery,
        response: { 200: List(ListedAppointment) },
      },
    },
    async ({ access, query }) => {
      const listing = listingOf(query, 'appointments', orders)
      const { status, contact_id, booking_page_id, start_from, start_to, end_from } = query
      const type = query.type?.trim() || undefined
      const asked = { status, type, contact_id, booking_page_id, start_from, start_to, end_from }
      const filters = dateFilters(query)
      const { appointments, ...found } = await reading((handle) =>
        listAppointments(handle, access.workspace_id, { ...asked, filters }, listing.page, listing.sorting),
      )
      return listAnswer(appointments, found, listing)
    },
  )

  app.post(
    path,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Create an appointment',
        description: '409 when the booking page has another scheduled or requested appointment at that time.',
        body: AppointmentCreate,
        response: { 201: Single(Appointment) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { title = '', start_at = '', end_at = '', type = null } = request.body
        const { contact_id = null, booking_page_id = null, location = null, notes = null } = request.body
        if (!problems.length) await holdTimes(tx, workspace_id, booking_page_id)
        const wrong = [
          ...problems,
          ...timeProblems({ start_at, end_at }, problems),
          ...(await referenceProblems(tx, workspace_id, request.body, references)),
        ]
        if (wrong.length) throw invalid(wrong)
        const fields = { title, type, start_at, end_at, contact_id, booking_page_id, location, notes }
        const appointment = await createAppointment(tx, context, fields)
        return { record: appointment, location: `${path}/${appointment.id}` }
      }),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:id`,
    ...writing,
    schema: {
      ...extension,
      'x-conflict': true,
      summary: 'Change an appointment',
      description:
        'Only the fields that are sent change. 409 when the booking page has another scheduled appointment at the new time; a cancelled one stays cancelled.',
      params: IdParams,
      body: AppointmentUpdate,
      response: answer,
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const before = await appointmentToChange(tx, workspace_id, request.params.id)
        checkMatch(request, before)
        const changes = changesOf(request.body, before, appointment_fields) as Partial<AppointmentFields>
        if (!problems.length) await holdTimesFor(tx, workspace_id, before.id, changes)
        const wrong = [
          ...problems,
          ...timeProblems({ ...before, ...changes }, problems),
          ...(await referenceProblems(tx, workspace_id, changes, references)),
        ]
        if (wrong.length) throw invalid(wrong)
        return { record: await changeAppointment(tx, context, before, changes) }
      }),
  })

  app.post(
    `${path}/:id/cancel`,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Cancel an appointment',
        description:
          'Its time is free again. One that is cancelled already stays as it is. A request is declined by it.',
        params: IdParams,
        body: Cancellation,
        response: answer,
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const before = await appointmentToChange(tx, context.workspace_id, request.params.id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        return { record: await cancelAppointment(tx, context, before, request.body.reason ?? null) }
      }),
  )

  app.post(
    `${path}/:id/accept`,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Accept a request',
        description: `It is scheduled from then on, with appointment.created. A request that nobody answers is declined after ${answer_hours} hours, or at its start.`,
        params: IdParams,
        body: NoFields,
        response: answer,
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const before = await appointmentToChange(tx, context.workspace_id, request.params.id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        return { record: await acceptRequest(tx, context, before) }
      }),
  )

  app.post(
    `${path}/:id/decline`,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Decline a request',
        description: 'Its time is free again. No event tells of it, as none told of the request.',
        params: IdParams,
        body: Cancellation,
        response: answer,
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const before = await appointmentToChange(tx, context.workspace_id, request.params.id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        return { record: await declineRequest(tx, context, before, request.body.reason ?? null) }
      }),
  )

  recordRoutes(
    app,
    { db, write },
    {
      ...{ path, table: 'appointments', noun: 'appointment', extension: true },
      ...{ view: Appointment, find: findAppointment, counted },
      holdToRestore: holdTimesOf,
      deleted: tellDeleted,
      restored: tellRestored,
    },
  )
}

/** Holds the times that a change gives up and takes: of both pages, in one order for all, when it changes the page. */
async function holdTimesFor(tx: Db, workspace_id: number, id: number, changes: Partial<AppointmentFields>) {
  const { start_at, end_at, booking_page_id: next } = changes
  if (start_at === undefined && end_at === undefined && next === undefined) return
  const pages = new Set([await storedPage(tx, workspace_id, id), next ?? null])
  for (const page of [...pages].sort((a, b) => Number(a) - Number(b))) await holdTimes(tx, workspace_id, page)
}

type Times = Pick<AppointmentFields, 'start_at' | 'end_at'>

/** An appointment ends after it starts; times that the schema refused are left to it. */
function timeProblems({ start_at, end_at }: Times, problems: readonly FieldProblem[]): FieldProblem[] {
  const refused = problems.some(({ field }) => field === 'start_at' || field === 'end_at')
  if (refused || end_at > start_at) return []
  return [{ field: 'end_at', code: 'before_start', message: 'end_at must be after start_at.' }]
}
