import { type TSchema, Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import type { Filter } from '../../db/lists/filters.ts'
import { Single, single } from '../../http/envelope.ts'
import { TextOrNull, Titled } from '../../http/fields.ts'
import { pascal } from '../../http/openapi/names.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { groupFieldsOf, groupsOf, max_groups, summedFieldsOf } from '../lists/groups.ts'
import { type ListRequest, requestOf } from '../lists/list.ts'
import { type Filters, type FilterValues, filterQueryOf } from '../lists/list-query.ts'
import type { Resource } from '../resource.ts'
import { time_zone, zoneOf } from '../values/time-zone.ts'

/** Makes the filters that only this list has, beside those that follow from the columns. */
export type OwnFilters<F extends Filters> = (
  db: Db,
  request: Omit<ListRequest<FilterValues<F>>, 'listing'>,
) => readonly Filter[] | Promise<readonly Filter[]>

const dates = (resource: Resource) =>
  groupFieldsOf(resource).flatMap(({ name, kind }) => (kind === 'day' || kind === 'time' ? [name] : []))

function groupsView(resource: Resource, by: TSchema): TSchema {
  const amounts = summedFieldsOf(resource).map(({ field }): [string, TSchema] => [
    field,
    Type.Number({ minimum: 0, examples: [12500.5] }),
  ])
  const Group = Type.Object({
    value: TextOrNull({
      description: 'The value of the field, or the month, YYYY-MM. Null: without a value.',
      examples: ['2026-11'],
    }),
    count: Type.Integer({ minimum: 1, examples: [7] }),
    ...(amounts.length && {
      sums: Type.Object(Object.fromEntries(amounts), {
        description: 'Exact to 4 decimals up to 500 billion, the limit of JSON numbers.',
      }),
    }),
    filter: Type.Record(Type.String(), Type.String(), {
      description:
        'The parameters with which the list has the records of this group, beside those of the request.',
      examples: [{ created_at_from: '2026-10-31T23:00:00.000Z', created_at_to: '2026-11-30T22:59:59.999Z' }],
    }),
  })
  return Titled(`GroupsOf${pascal(resource.table)}`, {
    by,
    count: Type.Integer({
      minimum: 0,
      description: 'All records that meet the filters, also those of groups that are left out.',
      examples: [7],
    }),
    groups: Type.Array(Group, {
      maxItems: max_groups,
      description:
        'Codes in their order, months oldest first, and other values by their number of records, the most first. Groups without records are left out.',
    }),
    more: Type.Boolean({
      description: `Whether there are more than ${max_groups} groups: smaller ones, or earlier months.`,
    }),
  })
}

/** GET of the records of a list by the values of a field. */
export function groupRoute<F extends Filters>(
  app: App,
  { reading, clock }: Service,
  resource: Resource,
  filters: F,
  ownFilters: OwnFilters<F>,
): void {
  const { table, path, scope } = resource
  const fields = groupFieldsOf(resource)
  const names = fields.map(({ name }) => name)
  const description = `A date is grouped by its month: ${dates(resource).join(', ')}.`
  const by = Type.Unsafe<string>({ type: 'string', enum: names, description, examples: [names[0]] })
  operation(
    app,
    {
      method: 'GET',
      path: `${path}/groups`,
      id: `group${pascal(table)}`,
      scope: `${scope}:read`,
      summary: `Count ${table.replaceAll('_', ' ')} by a field`,
      description: 'All records that meet the filters, which are those of the list.',
      query: filterQueryOf(resource, filters, { by, time_zone }, ['by']),
      answers: { 200: Single(groupsView(resource, by)) },
    },
    async ({ access, query }) => {
      const asked = query as FilterValues<F> & { by: string; time_zone: string }
      const zone = zoneOf(asked)
      const field = fields.find(({ name }) => name === asked.by)
      if (!field) throw new Error(`The schema accepted ${asked.by}.`)
      const request = requestOf(resource, access, asked as FilterValues<F>, clock.now())
      return single(
        await reading(async (db) => {
          const more = await ownFilters(db, request)
          return groupsOf(db, resource, { request, by: field, time_zone: zone, more })
        }),
      )
    },
  )
}
