import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listRoute, recordRoutes, restoreRoute, verbsOf } from '../endpoints/routes.ts'
import type { Room } from '../room.ts'
import { matchName } from '../writing/match.ts'
import { stageHistoryRoutes } from './history-routes.ts'
import { deal_import } from './import.ts'
import { listDeals } from './list.ts'
import { changeDeal, changeStage, createDeal, dealRecords, deleteDeal, restoreDeal } from './operations.ts'
import { progressFilters } from './progress.ts'
import { deals } from './resource.ts'
import { Deal, DealCreate, DealOfList, DealUpdate, deal_filters, StageChange } from './schema.ts'
import { stageSettingsRoutes } from './settings-routes.ts'
import { stage_changes } from './timeline.ts'

const operations = { create: createDeal, change: changeDeal, remove: deleteDeal, restore: restoreDeal }

const batch = { create: DealCreate, update: DealUpdate, match: [matchName('deals')] }

/** The deals resource, with deal.* events. */
export const dealRoom: Room = {
  ...dealRecords,
  entries: stage_changes,
  operations,
  batch,
  import: deal_import,
  routes,
}

function routes(app: App, service: Service): void {
  listRoute(app, service, deals, {
    filters: deal_filters,
    view: DealOfList,
    list: listDeals,
    exported: dealRecords,
    ownFilters: progressFilters,
  })
  recordRoutes(
    app,
    service,
    dealRecords,
    {
      view: Deal,
      create: DealCreate,
      update: DealUpdate,
      in_bulk: true,
      descriptions: {
        update: 'Only the fields that are sent change. A new stage follows the same rules as change-stage.',
      },
    },
    operations,
  )
  const verb = verbsOf(app, service, deals)
  verb(
    { name: 'change-stage', summary: 'Change the stage of a deal', body: StageChange, view: Deal },
    changeStage,
  )
  restoreRoute(app, service, deals, Deal, restoreDeal)
  stageHistoryRoutes(app, service)
  stageSettingsRoutes(app, service)
}
