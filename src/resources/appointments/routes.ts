import { isoTime } from '../../clock.ts'
import { List, list } from '../../http/envelope.ts'
import { NoFields } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listRoute, recordRoutes, restoreRoute, verbsOf } from '../endpoints/routes.ts'
import type { Room } from '../room.ts'
import { clockChanges, max_ahead } from './clocks.ts'
import { listAppointments } from './list.ts'
import {
  acceptRequest,
  appointmentRecords,
  cancelAppointment,
  changeAppointment,
  createAppointment,
  createArchived,
  declineRequest,
  deleteAppointment,
  giveGuest,
  keepTime,
  keepWallClock,
  restoreAppointment,
} from './operations.ts'
import { answer_hours } from './requests.ts'
import { appointments } from './resource.ts'
import {
  Appointment,
  AppointmentArchived,
  AppointmentCreate,
  AppointmentOfList,
  AppointmentUpdate,
  appointment_filters,
  Cancellation,
  ClockChange,
} from './schema.ts'

const operations = {
  create: createAppointment,
  change: changeAppointment,
  remove: deleteAppointment,
  restore: restoreAppointment,
}

/** The appointments resource: an extension of the interface, with appointment.* events. */
export const appointmentRoom: Room = {
  ...appointmentRecords,
  operations,
  give: giveGuest,
  archived: {
    operations: { ...operations, create: createArchived },
    batch: { create: AppointmentArchived, update: AppointmentUpdate, match: [] },
  },
  routes,
}

function routes(app: App, service: Service): void {
  const view = Appointment
  listRoute(app, service, appointments, {
    filters: appointment_filters,
    view: AppointmentOfList,
    list: listAppointments,
    exported: appointmentRecords,
    ownFilters: () => [],
  })
  recordRoutes(
    app,
    service,
    appointmentRecords,
    {
      view,
      create: AppointmentCreate,
      update: AppointmentUpdate,
      descriptions: {
        create: '409 if the booking page has another scheduled or requested appointment at that time.',
        update:
          'Only the fields that are sent change. 409 if the booking page has another scheduled appointment at the new time. A cancelled appointment stays cancelled.',
      },
      conflict: true,
    },
    {
      create: createAppointment,
      change: changeAppointment,
      remove: deleteAppointment,
    },
  )
  const verb = verbsOf(app, service, appointments)
  verb(
    {
      name: 'cancel',
      summary: 'Cancel an appointment',
      description: 'Its time is free again. A cancelled appointment does not change. A request is declined.',
      body: Cancellation,
      view,
    },
    cancelAppointment,
  )
  verb(
    {
      name: 'accept',
      summary: 'Accept a request',
      description: `The appointment becomes scheduled, with the event appointment.created. A request without an answer is declined after ${answer_hours} hours, or at its start.`,
      body: NoFields,
      view,
    },
    acceptRequest,
  )
  verb(
    {
      name: 'decline',
      summary: 'Decline a request',
      description: 'Its time is free again. Neither a request nor its decline has an event.',
      body: Cancellation,
      view,
    },
    declineRequest,
  )
  clockRoutes(app, service)
  restoreRoute(app, service, appointments, view, restoreAppointment)
}

// Of 1,300 bytes each, at most: titles may be long.
const max_shown = 1000

/** The appointments that the new rules of a zone moved on the wall clock. */
function clockRoutes(app: App, service: Service): void {
  const { reading, clock } = service
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/appointments/clock-changes',
      scope: 'appointments:read',
      summary: 'List appointments whose wall clock has changed',
      description: `New rules of a time zone move the appointments that lie ahead on the wall clock. Looks at the nearest ${max_ahead} appointments, and lists at most ${max_shown}.`,
      answers: { 200: List(ClockChange) },
    },
    async ({ access }) => {
      const now = isoTime(clock.now())
      const changes = await reading((db) => clockChanges(db, access.workspace_id, now))
      return list(changes.slice(0, max_shown), changes.length, { page: 1, per_page: max_shown })
    },
  )
  const verb = verbsOf(app, service, appointments)
  const kept = { body: NoFields, view: Appointment }
  verb(
    {
      ...kept,
      name: 'keep-wall-clock',
      summary: 'Move an appointment to keep its wall clock',
      description:
        'After new rules of its time zone. 409 if the booking page has another appointment at that time.',
    },
    keepWallClock,
  )
  verb(
    {
      ...kept,
      name: 'keep-time',
      summary: 'Keep the time of an appointment',
      description: 'After new rules of its time zone: its wall clock shows another time of day.',
    },
    keepTime,
  )
}
