import { sql } from 'kysely'
import { choice, type Filter, none } from '../../db/lists/filters.ts'
import { jsonObject, jsonOf } from '../../db/statements/json-text.ts'
import { invalid } from '../../errors.ts'
import { type Parameter, readValue, readWanted, type Wanted } from '../../http/filter-values.ts'
import type { FilterValues } from '../lists/list-query.ts'
import type { More } from '../writing/selection.ts'
import { type deal_filters, furthest_stage, lost_reason, stage_since } from './schema.ts'
import { placeOf, type Stage, stages } from './stages.ts'

// How far a deal has come: the time since which it is in its stage, and its next step.

// The index by deal is the only one that fits these conditions and the order below. Without statistics, planners would
// choose the one of open activities, or of all, and read it for each deal.
const plain = (column: string) => sql`coalesce(${sql.ref(`activities.${column}`)}, null)`
const open_of_deal = sql`activities.deal_id = deals.id AND ${plain('workspace_id')} = deals.workspace_id
  AND ${plain('deleted_at')} IS NULL AND ${plain('completed_at')} IS NULL`

const next = ['id', 'type', 'subject', 'due_at'] as const

/** Two fields of the deals of a list: the time at which they entered their stage, and the next open activity. */
export const progressOf: More = (db) => [
  {
    name: 'stage_since',
    text: jsonOf(
      db,
      sql`(SELECT changed_at FROM deal_stages
        WHERE deal_stages.workspace_id = deals.workspace_id AND deal_stages.deal_id = deals.id
        ORDER BY deal_stages.id DESC LIMIT 1)`,
    ),
  },
  {
    name: 'next_activity',
    text: sql`coalesce((SELECT ${jsonObject(next.map((name) => ({ name, text: jsonOf(db, sql.ref(`activities.${name}`)) })))}
      FROM activities WHERE ${open_of_deal} ORDER BY coalesce(activities.due_at, 'zz'), activities.id LIMIT 1), 'null')`,
  },
]

// No EXISTS: without statistics, PostgreSQL would join all deals with all activities.
const has_next = sql<boolean>`(SELECT activities.id FROM activities WHERE ${open_of_deal} LIMIT 1) IS NOT NULL`
const isChanged = (comparison: '>' | '>=', time: string) =>
  sql<boolean>`(SELECT deal_stages.id FROM deal_stages WHERE deal_stages.workspace_id = deals.workspace_id
    AND deal_stages.deal_id = deals.id AND deal_stages.changed_at ${sql.raw(comparison)} ${time} LIMIT 1) IS NOT NULL`

/** The place of a stage among the open ones (stages.ts), as SQL. */
const placeIn = (column: string) =>
  sql`CASE ${sql.ref(column)} ${sql.join(
    stages.map((stage) => sql`WHEN ${sql.lit(stage)} THEN ${sql.lit(placeOf(stage))}`),
    sql` `,
  )} END`
const furthest = sql`(SELECT max(place) FROM (SELECT ${placeIn('deals.stage')} AS place UNION ALL
  SELECT ${placeIn('deal_stages.from_stage')} FROM deal_stages
  WHERE deal_stages.workspace_id = deals.workspace_id AND deal_stages.deal_id = deals.id) AS places)`

/** The condition of a parameter. Null means anything. */
function wantedOf(parameter: Parameter, text = ''): Wanted | null {
  const wanted = text ? readWanted(parameter, text) : null
  if (wanted && 'code' in wanted) throw invalid([wanted])
  return wanted
}

function furthestFilter(text: string | undefined): Filter[] {
  const wanted = wantedOf(furthest_stage, text)
  const placesOf = (values: Wanted['any']) => values.map((stage) => placeOf(stage as Stage))
  return wanted
    ? [
        choice(furthest, {
          ...wanted,
          any: placesOf(wanted.any),
          not: placesOf(wanted.not),
          missing: sql<boolean>`false`,
        }),
      ]
    : []
}

function reasonFilter(text: string | undefined): Filter[] {
  const wanted = wantedOf(lost_reason, text)
  return wanted
    ? [choice(sql.ref('lost_reason'), { ...wanted, missing: sql<boolean>`lost_reason IS NULL` })]
    : []
}

/** The filters by progress and by the reason of a loss. No index serves them, so they are tested for each deal that meets the other filters. */
export function progressFilters(query: FilterValues<typeof deal_filters>): Filter[] {
  const { next_activity, stage_since_from: from, stage_since_to: to } = query
  const every = (where: typeof has_next): Filter => ({ where, plain: where })
  return [
    ...(next_activity === 'null' ? [none(has_next)] : next_activity === '!null' ? [every(has_next)] : []),
    ...(from === undefined ? [] : [every(isChanged('>=', timeOf('from', from)))]),
    ...(to === undefined ? [] : [none(isChanged('>', timeOf('to', to)))]),
    ...furthestFilter(query.furthest_stage),
    ...reasonFilter(query.lost_reason),
  ]
}

// The schema has accepted the text.
const timeOf = (end: 'from' | 'to', text: string): string =>
  (readValue({ ...stage_since, end }, text) as { value: string }).value
