import type { Db } from '../db/db.ts'
import { changesBetween } from '../events/changes.ts'
import { emit } from '../events/emit.ts'
import { List, list, paging, Single } from '../http/envelope.ts'
import { invalid, notFound } from '../http/errors.ts'
import { checkMatch } from '../http/etag.ts'
import { IdParams, ListQuery } from '../http/fields.ts'
import { changesOf, customFieldsProblems, mergeCustomFields } from '../http/patch.ts'
import { recordRoutes } from '../http/records.ts'
import type { App } from '../http/server.ts'
import type { Writer } from '../http/write.ts'
import { companyCreated, companyDeleted, companyUpdated } from './events.ts'
import { findCompany, insertCompany, listCompanies, moveCompany, updateCompany } from './queries.ts'
import { Company, CompanyCreate, CompanyUpdate, company_fields } from './schema.ts'

const path = '/api/v1/companies'
const extension = { 'x-extension': true }

/** The companies resource: an extension of the interface, with company.* events. */
export function companyRoutes(app: App, { db, write }: { db: Db; write: Writer }): void {
  app.get(
    path,
    {
      config: { scope: 'companies:read' },
      schema: {
        ...extension,
        summary: 'List companies',
        querystring: ListQuery({}),
        response: { 200: List(Company) },
      },
    },
    async (request) => {
      const asked = paging(request.query)
      const { companies, total } = await listCompanies(db, request.access.workspace_id, asked)
      return list(companies, total, asked)
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
        if (problems.length) throw invalid(problems)
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
        const company = await existing(tx, workspace_id, id)
        await emit(tx, context, companyCreated, company)
        return { record: company, location: `${path}/${id}` }
      }),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:id`,
    config: { scope: 'companies:write' },
    schema: {
      ...extension,
      summary: 'Change a company',
      params: IdParams,
      body: CompanyUpdate,
      response: { 200: Single(Company) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        const { id } = request.params
        const before = await existing(tx, workspace_id, id)
        checkMatch(request, before)
        const { custom_fields, ...sent } = request.body
        const merged =
          custom_fields === undefined ? undefined : mergeCustomFields(before.custom_fields, custom_fields)
        const wrong = [...problems, ...customFieldsProblems(merged, problems)]
        if (wrong.length) throw invalid(wrong)
        const changes = changesOf({ ...sent, custom_fields: merged }, before, company_fields)
        if (!Object.keys(changes).length) return { record: before }
        await updateCompany(tx, workspace_id, id, now, changes as Partial<Company>)
        const after = await existing(tx, workspace_id, id)
        await emit(
          tx,
          context,
          companyUpdated,
          after,
          changesBetween(before, after, company_fields) ?? undefined,
        )
        return { record: after }
      }),
  })

  recordRoutes(
    app,
    { db, write },
    {
      path,
      table: 'companies',
      noun: 'company',
      extension: true,
      view: Company,
      find: findCompany,
      move: moveCompany,
      deleted: companyDeleted,
      restored: companyUpdated,
    },
  )
}

async function existing(db: Db, workspace_id: number, id: number): Promise<Company> {
  const company = await findCompany(db, workspace_id, id)
  if (!company) throw notFound('This company')
  return company
}
