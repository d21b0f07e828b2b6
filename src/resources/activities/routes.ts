import { NoFields } from '../../http/fields.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listRoute, recordRoutes, restoreRoute, verbsOf } from '../endpoints/routes.ts'
import type { Room } from '../room.ts'
import { activity_import } from './import.ts'
import { listActivities, statusFilters } from './list.ts'
import {
  activityRecords,
  changeActivity,
  completeActivity,
  createActivity,
  deleteActivity,
  reopenActivity,
  restoreActivity,
} from './operations.ts'
import { activities } from './resource.ts'
import {
  Activity,
  ActivityCreate,
  ActivityOfList,
  ActivityUpdate,
  activity_filters,
  Completion,
} from './schema.ts'

const operations = {
  create: createActivity,
  change: changeActivity,
  remove: deleteActivity,
  restore: restoreActivity,
}

const batch = { create: ActivityCreate, update: ActivityUpdate, match: [] }

/** The activities resource: an extension of the interface, with activity.created and activity.completed. */
export const activityRoom: Room = {
  ...activityRecords,
  operations,
  batch,
  import: activity_import,
  routes,
}

function routes(app: App, service: Service): void {
  listRoute(app, service, activities, {
    filters: activity_filters,
    view: ActivityOfList,
    list: listActivities,
    exported: activityRecords,
    ownFilters: statusFilters,
  })
  recordRoutes(
    app,
    service,
    activityRecords,
    {
      view: Activity,
      create: ActivityCreate,
      update: ActivityUpdate,
      in_bulk: true,
      descriptions: {
        update:
          'Only the fields that are sent change. A completed_at on an open activity completes it; null reopens it.',
      },
    },
    operations,
  )
  const verb = verbsOf(app, service, activities)
  verb(
    {
      name: 'complete',
      summary: 'Complete an activity',
      description: 'A completed activity does not change, except for a new outcome.',
      body: Completion,
      view: Activity,
    },
    completeActivity,
  )
  verb(
    {
      name: 'reopen',
      summary: 'Reopen a completed activity',
      description: 'Its outcome stays. An open activity does not change.',
      body: NoFields,
      view: Activity,
    },
    reopenActivity,
  )
  restoreRoute(app, service, activities, Activity, restoreActivity)
}
