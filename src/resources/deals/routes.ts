import { Type } from 'typebox'
import type { Db, Reading } from '../../db/db.ts'
import { nameFilter } from '../../db/lists/search.ts'
import { links, referenceProblems } from '../../db/references.ts'
import { List, Single } from '../../http/envelope.ts'
import { type FieldProblem, invalid } from '../../http/errors.ts'
import { checkMatch } from '../../http/etag.ts'
import { Id, IdParams } from '../../http/fields.ts'
import { dateFilters, listAnswer, listingOf, name_search, RecordsQuery } from '../../http/lists.ts'
import { changesOf } from '../../http/patch.ts'
import { recordRoutes } from '../../http/records.ts'
import type { App } from '../../http/server.ts'
import type { Writer } from '../../http/write.ts'
import { changeDeal, createDeal, dealToChange } from './changes.ts'
import { dealDeleted, dealUpdated } from './events.ts'
import { closingFilter, listDeals, orders } from './list.ts'
import { counted, findDeal } from './queries.ts'
import {
  Deal,
  DealCreate,
  DealOfList,
  DealUpdate,
  type PlainFields,
  plain_fields,
  StageChange,
  StageCode,
  StatusCode,
} from './schema.ts'
import { type DealInput, type DealState, type Decision, decide, type Operation } from './stages.ts'
import { isExact } from './value.ts'

const path = '/api/v1/deals'
const references = links.deals

const DealsQuery = RecordsQuery(orders, {
  ...name_search,
  stage: Type.Optional(StageCode()),
  contact_id: Type.Optional(Id()),
  company_id: Type.Optional(Id()),
  status: Type.Optional(StatusCode()),
  expected_close_from: Type.Optional(
    Type.String({ format: 'date', description: 'Expected to close on this day or later.' }),
  ),
  expected_close_to: Type.Optional(
    Type.String({ format: 'date', description: 'Expected to close on this day or earlier.' }),
  ),
  details: Type.Optional(
    Type.Unsafe<'true' | 'false'>({
      type: 'string',
      enum: ['true', 'false'],
      description: 'true: each deal as GET one shows it, with its contact and its company.',
    }),
  ),
})

type Deps = { db: Db; reading: Reading; write: Writer }

/** The deals resource, with deal.* events. */
export function dealRoutes(app: App, { db, reading, write }: Deps): void {
  app.get(
    path,
    {
      config: { scope: 'deals:read' },
      schema: { summary: 'List deals', querystring: DealsQuery, response: { 200: List(DealOfList) } },
    },
    async (request) => {
      const { stage, contact_id, company_id, status } = request.query
      const { expected_close_from, expected_close_to } = request.query
      const listing = listingOf(request.query, 'deals', orders)
      const filters = [
        ...nameFilter(request.query.search),
        ...closingFilter(expected_close_from, expected_close_to),
        ...dateFilters(request.query),
      ]
      const asked = {
        stage,
        contact_id,
        company_id,
        status,
        filters,
        details: request.query.details === 'true',
      }
      const { deals, ...found } = await reading((db) =>
        listDeals(db, request.access.workspace_id, asked, listing.page, listing.sorting),
      )
      return listAnswer(deals, found, listing)
    },
  )

  app.post(
    path,
    {
      config: { scope: 'deals:write' },
      schema: { summary: 'Create a deal', body: DealCreate, response: { 201: Single(Deal) } },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        const body = tidyZero(request.body)
        const decision = judge(null, body, { now, operation: 'create' }, problems)
        const wrong = [
          ...problems,
          ...(decision.problems ?? []),
          ...valueProblems(body),
          ...(await referenceProblems(tx, workspace_id, body, references)),
        ]
        if (wrong.length || decision.problems) throw invalid(wrong)
        const {
          name = '',
          value = null,
          contact_id = null,
          company_id = null,
          expected_close_date = null,
          priority = null,
          source = null,
        } = body
        const fields = { name, value, contact_id, company_id, expected_close_date, priority, source }
        const deal = await createDeal(tx, context, fields, decision)
        return { record: deal, location: `${path}/${deal.id}` }
      }),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:id`,
    config: { scope: 'deals:write' },
    schema: {
      summary: 'Change a deal',
      description:
        'Only the fields that are sent change. A new stage follows the same rules as change-stage.',
      params: IdParams,
      body: DealUpdate,
      response: { 200: Single(Deal) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const before = await dealToChange(tx, workspace_id, request.params.id)
        const { now } = context
        checkMatch(request, before.shown)
        const body = tidyZero(request.body)
        const changes = changesOf(body, before.shown, plain_fields) as Partial<PlainFields>
        const decision = judge(before.state, body, { now, operation: 'update' }, problems)
        const wrong = [
          ...problems,
          ...(decision.problems ?? []),
          ...valueProblems(body),
          ...(await referenceProblems(tx, workspace_id, changes, references)),
        ]
        if (wrong.length || decision.problems) throw invalid(wrong)
        return { record: await changeDeal(tx, context, before, changes, decision, 'all') }
      }),
  })

  app.post(
    `${path}/:id/change-stage`,
    {
      config: { scope: 'deals:write' },
      schema: {
        summary: 'Change the stage of a deal',
        params: IdParams,
        body: StageChange,
        response: { 200: Single(Deal) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const before = await dealToChange(tx, workspace_id, request.params.id)
        const { now } = context
        checkMatch(request, before.shown)
        const decision = judge(before.state, request.body, { now, operation: 'change_stage' }, problems)
        const wrong = [...problems, ...(decision.problems ?? [])]
        if (wrong.length || decision.problems) throw invalid(wrong)
        return { record: await changeDeal(tx, context, before, {}, decision, 'stage_only') }
      }),
  )

  recordRoutes(
    app,
    { db, write },
    {
      path,
      table: 'deals',
      noun: 'deal',
      view: Deal,
      find: findDeal,
      counted,
      deleted: dealDeleted,
      restored: dealUpdated,
    },
  )
}

/**
 * Asks the rules of the stages. A field that the schema refused counts as absent, except the stage: one that is refused
 * here is unknown to the rules too. What they say of a refused field is not told: the schema's problem comes first.
 */
function judge(
  current: DealState | null,
  body: DealInput,
  context: { now: string; operation: Operation },
  problems: readonly FieldProblem[],
): Decision {
  const refused = new Set(problems.map(({ field }) => field))
  const input: DealInput = {
    stage: body.stage,
    probability: refused.has('probability') ? undefined : body.probability,
    lost_reason: refused.has('lost_reason') ? undefined : body.lost_reason,
  }
  return decide(current, input, context)
}

function valueProblems({ value }: { value?: number | null }): FieldProblem[] {
  if (typeof value !== 'number' || isExact(value)) return []
  return [{ field: 'value', code: 'too_precise', message: 'value must have at most 4 decimals.' }]
}

// JSON has a -0, which is no other value than 0.
const tidyZero = <T extends { value?: number | null }>(body: T): T =>
  body.value === 0 ? { ...body, value: 0 } : body
