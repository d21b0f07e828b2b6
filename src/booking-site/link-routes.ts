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

/** The private pages of an appointment. The token in their path is the only proof of a visitor's right to it. */
export function linkRoutes(app: App, site: Site): void {
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: 'open',
      summary: 'Show an appointment to its visitor',
      params: LinkParams,
      answers: { 200: HtmlPage },
      extension: true,
      unlogged: true,
    },
    (request, reply) => showAppointment(site, request, reply),
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/calendar.ics`,
      scope: 'open',
      summary: 'Read an appointment as an iCalendar file',
      params: LinkParams,
      answers: {
        200: { description: 'The file.', content: { 'text/calendar': { schema: { type: 'string' } } } },
      },
      extension: true,
      unlogged: true,
    },
    (request, reply) => sendCalendarFile(site, request, reply),
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/cancel`,
      scope: 'open',
      summary: 'Show the form that cancels an appointment',
      params: LinkParams,
      answers: { 200: HtmlPage },
      extension: true,
      unlogged: true,
    },
    (request, reply) => showCancelling(site, request, reply),
  )

  operation(
    app,
    {
      method: 'POST',
      path: `${path}/cancel`,
      scope: 'open',
      summary: 'Cancel an appointment',
      params: LinkParams,
      body: CancelForm,
      answers: { 200: HtmlPage },
      extension: true,
      repeatable: false,
      unlogged: true,
    },
    (request, reply) => submitCancelling(site, request, reply),
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/move`,
      scope: 'open',
      summary: 'Choose another time for an appointment, or confirm the chosen time',
      params: LinkParams,
      answers: { 200: HtmlPage },
      extension: true,
      unlogged: true,
    },
    (request, reply) => showMoving(site, request, reply),
  )

  operation(
    app,
    {
      method: 'POST',
      path: `${path}/move`,
      scope: 'open',
      summary: 'Move an appointment to another time',
      params: LinkParams,
      body: MoveForm,
      answers: { 200: HtmlPage },
      extension: true,
      repeatable: false,
      unlogged: true,
    },
    (request, reply) => submitMoving(site, request, reply),
  )
}
