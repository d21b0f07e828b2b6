import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { choice, type Filter, none } from '../../db/lists/filters.ts'
import { jsonObject, jsonOf } from '../../db/statements/json-text.ts'
import { invalid } from '../../errors.ts'
import { type Parameter, readValue, readWanted, type Wanted } from '../../http/filter-values.ts'
import type { ListRequest } from '../lists/list.ts'
import type { FilterValues } from '../lists/list-query.ts'
import type { More } from '../writing/selection.ts'
import { type deal_filters, furthest_stage, lost_reason, stage_since } from './schema.ts'
import { openStagesOf, stageSettings } from './settings.ts'
import { type OpenStage, placeOf, type Stage, stages } from './stages.ts'

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
const placeIn = (column: string, order: readonly OpenStage[]) =>
  sql`CASE ${sql.ref(column)} ${sql.join(
    stages.map((stage) => sql`WHEN ${sql.lit(stage)} THEN ${sql.lit(placeOf(stage, order))}`),
    sql` `,
  )} END`
const furthestIn = (
  order: readonly OpenStage[],
) => sql`(SELECT max(place) FROM (SELECT ${placeIn('deals.stage', order)} AS place UNION ALL
  SELECT ${placeIn('deal_stages.from_stage', order)} FROM deal_stages
  WHERE deal_stages.workspace_id = deals.workspace_id AND deal_stages.deal_id = deals.id) AS places)`

/** The condition of a parameter. Null means anything. */
function wantedOf(parameter: Parameter, text = ''): Wanted | null {
  const wanted = text ? readWanted(parameter, text) : null
  if (wanted && 'code' in wanted) throw invalid([wanted])
  return wanted
}

async function furthestFilter(db: Db, workspace_id: number, text: string | undefined): Promise<Filter[]> {
  const wanted = wantedOf(furthest_stage, text)
  const order = wanted ? await openStagesOf(db, workspace_id) : []
  const placesOf = (values: Wanted['any']) => values.map((stage) => placeOf(stage as Stage, order))
  return wanted
    ? [
        choice(furthestIn(order), {
          ...wanted,
          any: placesOf(wanted.any),
          not: placesOf(wanted.not),
          missing: sql<boolean>`false`,
        }),
      ]
    : []
}

const day_ms = 86_400_000

/** Open deals that have not entered a stage since the last day, in UTC, on which they would stand still. */
async function staleFilter(db: Db, workspace_id: number, now: string): Promise<Filter> {
  const { deal_stages } = await stageSettings(db, workspace_id)
  const cases = deal_stages.flatMap(({ stage, stale_after_days: days }) => {
    if (days === null) return []
    const since = new Date(Date.parse(now) - (days - 1) * day_ms).toISOString().slice(0, 10)
    return [sql`WHEN ${sql.lit(stage)} THEN ${sql.lit(since)}`]
  })
  const is_stale = sql<SqlBool>`(deals.status = 'open' AND (SELECT deal_stages.id FROM deal_stages
    WHERE deal_stages.workspace_id = deals.workspace_id AND deal_stages.deal_id = deals.id
    AND deal_stages.changed_at >= CASE deals.stage ${sql.join(cases, sql` `)} END LIMIT 1) IS NULL)`
  return { where: is_stale, plain: is_stale }
}

function reasonFilter(text: string | undefined): Filter[] {
  const wanted = wantedOf(lost_reason, text)
  return wanted
    ? [choice(sql.ref('lost_reason'), { ...wanted, missing: sql<boolean>`lost_reason IS NULL` })]
    : []
}

/** The filters by progress and by the reason of a loss. No index serves them, so they are tested for each deal that meets the other filters. */
export async function progressFilters(
  db: Db,
  { workspace_id, now, query }: Omit<ListRequest<FilterValues<typeof deal_filters>>, 'listing'>,
): Promise<Filter[]> {
  const { next_activity, stage_since_from: from, stage_since_to: to } = query
  const every = (where: typeof has_next): Filter => ({ where, plain: where })
  return [
    ...(next_activity === 'null' ? [none(has_next)] : next_activity === '!null' ? [every(has_next)] : []),
    ...(from === undefined ? [] : [every(isChanged('>=', timeOf('from', from)))]),
    ...(to === undefined ? [] : [none(isChanged('>', timeOf('to', to)))]),
    ...(await furthestFilter(db, workspace_id, query.furthest_stage)),
    ...(query.stale === 'true' ? [await staleFilter(db, workspace_id, now)] : []),
    ...reasonFilter(query.lost_reason),
  ]
}

// The schema has accepted the text.
const timeOf = (end: 'from' | 'to', text: string): string =>
  (readValue({ ...stage_since, end }, text) as { value: string }).value
