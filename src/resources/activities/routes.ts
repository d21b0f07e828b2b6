import { isoTime } from '../../clock.ts'
import { links, referenceProblems } from '../../db/references.ts'
import { List, Single } from '../../http/envelope.ts'
import { invalid } from '../../http/errors.ts'
import { checkMatch } from '../../http/etag.ts'
import { IdParams, NoFields } from '../../http/fields.ts'
import { dateFilters, listAnswer, listingOf, RecordsQuery } from '../../http/lists.ts'
import { changesOf } from '../../http/patch.ts'
import { recordRoutes } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { activityToChange, changeActivity, createActivity } from './changes.ts'
import { listActivities, orders } from './list.ts'
import { counted, findActivity } from './queries.ts'
import {
  Activity,
  ActivityCreate,
  type ActivityFields,
  ActivityOfList,
  ActivityUpdate,
  activity_fields,
  activity_filters,
  Completion,
} from './schema.ts'

const path = '/api/v1/activities'
const extension = { 'x-extension': true }
const references = links.activities

/** The activities resource: an extension of the interface, with activity.created and activity.completed. */
export function activityRoutes(app: App, { db, reading, write, clock }: Service): void {
  const writing = { config: { scope: 'activities:write' } }
  const answer = { 200: Single(Activity) }

  app.get(
    path,
    {
      config: { scope: 'activities:read' },
      schema: {
        ...extension,
        summary: 'List activities',
        querystring: RecordsQuery(orders, activity_filters),
        response: { 200: List(ActivityOfList) },
      },
    },
    async (request) => {
      const { type, status, due_from, due_to, contact_id, company_id, deal_id } = request.query
      const details = request.query.details === 'true'
      const links = { contact_id, company_id, deal_id }
      const filters = dateFilters(request.query)
      const asked = { type, status, due_from, due_to, ...links, filters, details, now: isoTime(clock.now()) }
      const listing = listingOf(request.query, 'activities', orders)
      const { activities, ...found } = await reading((db) =>
        listActivities(db, request.access.workspace_id, asked, listing.page, listing.sorting),
      )
      return listAnswer(activities, found, listing)
    },
  )

  app.post(
    path,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Create an activity',
        body: ActivityCreate,
        response: { 201: Single(Activity) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const wrong = [...problems, ...(await referenceProblems(tx, workspace_id, request.body, references))]
        if (wrong.length) throw invalid(wrong)
        const { type, subject = '', body = null, due_at = null, completed_at = null } = request.body
        const { outcome = null, contact_id = null, company_id = null, deal_id = null } = request.body
        const links = { contact_id, company_id, deal_id }
        const fields = {
          type: type ?? 'task',
          ...{ subject, body, due_at, completed_at, outcome, ...links },
        }
        const activity = await createActivity(tx, context, fields)
        return { record: activity, location: `${path}/${activity.id}` }
      }),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:id`,
    ...writing,
    schema: {
      ...extension,
      summary: 'Change an activity',
      description:
        'Only the fields that are sent change. A completed_at on an open activity completes it; null reopens it.',
      params: IdParams,
      body: ActivityUpdate,
      response: answer,
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const before = await activityToChange(tx, workspace_id, request.params.id)
        checkMatch(request, before)
        const changes = changesOf(request.body, before, activity_fields) as Partial<ActivityFields>
        const wrong = [...problems, ...(await referenceProblems(tx, workspace_id, changes, references))]
        if (wrong.length) throw invalid(wrong)
        return { record: await changeActivity(tx, context, before, changes) }
      }),
  })

  app.post(
    `${path}/:id/complete`,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Complete an activity',
        description: 'One that is completed already stays as it is, but for a new outcome.',
        params: IdParams,
        body: Completion,
        response: answer,
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const before = await activityToChange(tx, context.workspace_id, request.params.id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        const wanted = { ...request.body, completed_at: before.completed_at ?? context.now }
        const changes = changesOf(wanted, before, activity_fields)
        return { record: await changeActivity(tx, context, before, changes) }
      }),
  )

  app.post(
    `${path}/:id/reopen`,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Reopen a completed activity',
        description: 'Its outcome stays. One that is open stays as it is.',
        params: IdParams,
        body: NoFields,
        response: answer,
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const before = await activityToChange(tx, context.workspace_id, request.params.id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        const changes = changesOf({ completed_at: null }, before, activity_fields)
        return { record: await changeActivity(tx, context, before, changes) }
      }),
  )

  recordRoutes(
    app,
    { db, write },
    {
      ...{ path, table: 'activities', noun: 'activity', extension: true },
      ...{ view: Activity, find: findActivity, counted },
    },
  )
}
