import { NoFields } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Room } from '../room.ts'
import { listRoute, recordRoutes, restoreRoute, verbRoute } from '../routes.ts'
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
    details: appointmentRecords.detailsByIds,
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
  verbRoute(
    app,
    service,
    appointments,
    {
      name: 'cancel',
      summary: 'Cancel an appointment',
      description: 'Its time is free again. A cancelled appointment does not change. A request is declined.',
      body: Cancellation,
      view,
    },
    cancelAppointment,
  )
  verbRoute(
    app,
    service,
    appointments,
    {
      name: 'accept',
      summary: 'Accept a request',
      description: `The appointment becomes scheduled, with the event appointment.created. A request without an answer is declined after ${answer_hours} hours, or at its start.`,
      body: NoFields,
      view,
    },
    acceptRequest,
  )
  verbRoute(
    app,
    service,
    appointments,
    {
      name: 'decline',
      summary: 'Decline a request',
      description: 'Its time is free again. Neither a request nor its decline has an event.',
      body: Cancellation,
      view,
    },
    declineRequest,
  )
  restoreRoute(app, service, appointments, view, restoreAppointment)
}
