import { operation } from '../http/operation.ts'
import type { App } from '../http/server.ts'
import { CancelForm, MoveForm } from './form.ts'
import { HtmlPage } from './html.ts'
import {
  LinkParams,
  sendCalendarFile,
  showAppointment,
  showCancelling,
  showMoving,
  submitCancelling,
  submitMoving,
} from './link-pages.ts'
import type { Site } from './visitor.ts'

const path = '/:slug/a/:token'
// The path holds the token, so the request log leaves it out.
const shared = {
  scope: 'open',
  params: LinkParams,
  answers: { 200: HtmlPage },
  unlogged: true,
}

/** The private pages of an appointment. The token in their path is the only proof of a visitor's right to it. */
export function linkRoutes(app: App, site: Site): void {
  operation(
    app,
    { ...shared, method: 'GET', path, summary: 'Show an appointment to its visitor' },
    (request, reply) => showAppointment(site, request, reply),
  )

  operation(
    app,
    {
      ...shared,
      method: 'GET',
      path: `${path}/calendar.ics`,
      summary: 'Read an appointment as an iCalendar file',
      answers: {
        200: { description: 'The file.', content: { 'text/calendar': { schema: { type: 'string' } } } },
      },
    },
    (request, reply) => sendCalendarFile(site, request, reply),
  )

  operation(
    app,
    {
      ...shared,
      method: 'GET',
      path: `${path}/cancel`,
      summary: 'Show the form that cancels an appointment',
    },
    (request, reply) => showCancelling(site, request, reply),
  )

  operation(
    app,
    {
      ...shared,
      method: 'POST',
      path: `${path}/cancel`,
      summary: 'Cancel an appointment',
      body: CancelForm,
      repeatable: false,
    },
    (request, reply) => submitCancelling(site, request, reply),
  )

  operation(
    app,
    {
      ...shared,
      method: 'GET',
      path: `${path}/move`,
      summary: 'Choose another time for an appointment, or confirm the chosen time',
    },
    (request, reply) => showMoving(site, request, reply),
  )

  operation(
    app,
    {
      ...shared,
      method: 'POST',
      path: `${path}/move`,
      summary: 'Move an appointment to another time',
      body: MoveForm,
      repeatable: false,
    },
    (request, reply) => submitMoving(site, request, reply),
  )
}
