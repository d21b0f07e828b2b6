import type { Db, Reading } from '../../db/db.ts'
import { nameFilter } from '../../db/lists/search.ts'
import { factsOf, recordChange } from '../../events/audit.ts'
import { emit } from '../../events/emit.ts'
import { List, Single } from '../../http/envelope.ts'
import { invalid } from '../../http/errors.ts'
import {
  dateFilters,
  listAnswer,
  listingOf,
  name_search,
  RecordsQuery,
  valueFilters,
} from '../../http/lists.ts'
import { mergeCustomFields, newCustomFieldsProblems } from '../../http/patch.ts'
import { changeRoute, orNotFound, recordRoutes } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Writer } from '../../http/write.ts'
import { writableFields } from '../resource.ts'
import { findCompany, insertCompany, listCompanies, orders, updateCompany } from './queries.ts'
import {
  Company,
  CompanyCreate,
  CompanyUpdate,
  companies,
  companyCreated,
  companyDeleted,
  companyUpdated,
  ListedCompany,
} from './resource.ts'

const path = '/api/v1/companies'
const extension = { 'x-extension': true }

type Deps = { db: Db; reading: Reading; write: Writer }

/** The companies resource: an extension of the interface, with company.* events. */
export function companyRoutes(app: App, { db, reading, write }: Deps): void {
  app.get(
    path,
    {
      config: { scope: 'companies:read' },
      schema: {
        ...extension,
        summary: 'List companies',
        querystring: RecordsQuery(orders, name_search, { custom_fields: true }),
        response: { 200: List(ListedCompany) },
      },
    },
    async (request) => {
      const { workspace_id } = request.access
      const listing = listingOf(request.query, 'companies', orders)
      const filters = [
        ...nameFilter(request.query.search),
        ...dateFilters(request.query),
        ...valueFilters(db, 'companies', workspace_id, request.query),
      ]
      const { companies, ...found } = await reading((db) =>
        listCompanies(db, workspace_id, filters, listing.page, listing.sorting),
      )
      return listAnswer(companies, found, listing)
    },
  )

  app.post(
    path,
    {
      config: { scope: 'companies:write' },
      schema: {
        ...extension,
        summary: 'Create a company',
        body: CompanyCreate,
        response: { 201: Single(Company) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const wrong = [...problems, ...newCustomFieldsProblems(request.body, problems)]
        if (wrong.length) throw invalid(wrong)
        const { workspace_id, now } = context
        const {
          name = '',
          website = null,
          industry = null,
          phone = null,
          address = null,
          custom_fields,
        } = request.body
        const fields = mergeCustomFields({}, custom_fields ?? null)
        const id = await insertCompany(tx, workspace_id, now, {
          name,
          website,
          industry,
          phone,
          address,
          custom_fields: fields,
        })
        const company = orNotFound('company', await findCompany(tx, workspace_id, id))
        await emit(tx, context, companyCreated, company)
        await recordChange(tx, context, {
          ...{ action: 'created', kind: 'companies', record_id: id },
          after: factsOf(company),
        })
        return { record: company, location: `${path}/${id}` }
      }),
  )

  const resource = {
    path,
    table: 'companies',
    noun: 'company',
    extension: true,
    view: Company,
    find: findCompany,
  } as const
  changeRoute(
    app,
    { db, write },
    {
      ...resource,
      body: CompanyUpdate,
      fields: writableFields(companies.columns),

      update: updateCompany,
      updated: companyUpdated,
    },
  )
  recordRoutes(
    app,
    { db, write },
    { ...resource, counted: [], deleted: companyDeleted, restored: companyUpdated },
  )
}
