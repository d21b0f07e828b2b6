import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { listRoute, recordRoutes, restoreRoute } from '../endpoints/routes.ts'
import { listRecords } from '../lists/list.ts'
import type { Room } from '../room.ts'
import { matchKey, matchName } from '../writing/match.ts'
import { company_import } from './import.ts'
import { changeCompany, companyRecords, createCompany, deleteCompany, restoreCompany } from './operations.ts'
import { Company, CompanyCreate, CompanyUpdate, companies, ListedCompany } from './resource.ts'

const operations = {
  create: createCompany,
  change: changeCompany,
  remove: deleteCompany,
  restore: restoreCompany,
}

const batch = {
  create: CompanyCreate,
  update: CompanyUpdate,
  match: [matchName('companies'), matchKey('companies', 'website')],
}

/** The companies resource: an extension of the interface, with company.* events. */
export const companyRoom: Room = {
  ...companyRecords,
  operations,
  batch,
  details: { view: Company, find: companyRecords.find },
  import: company_import,
  routes,
}

function routes(app: App, service: Service): void {
  listRoute(app, service, companies, {
    filters: {},
    view: ListedCompany,
    list: (db, asked) => listRecords(db, companies, asked, companyRecords.listed),
    exported: companyRecords,
    ownFilters: () => [],
  })
  recordRoutes(
    app,
    service,
    companyRecords,
    { view: Company, create: CompanyCreate, update: CompanyUpdate, in_bulk: true },
    operations,
  )
  restoreRoute(app, service, companies, Company, restoreCompany)
}
