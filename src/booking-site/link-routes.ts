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
  const show = (path: string, summary: string, page: typeof showAppointment) =>
    operation(app, { ...shared, method: 'GET', path, summary }, (request, reply) =>
      page(site, request, reply),
    )

  show(path, 'Show an appointment to its visitor', showAppointment)

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

  show(`${path}/cancel`, 'Show the form that cancels an appointment', showCancelling)

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

  show(`${path}/move`, 'Choose another time for an appointment, or confirm the chosen time', showMoving)

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
