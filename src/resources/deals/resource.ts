import { type Generated, sql } from 'kysely'
import { defineResource, type TableOf } from '../resource.ts'
import { dealCreated, dealDeleted, dealLost, dealStageChanged, dealUpdated, dealWon } from './events.ts'
import { columns } from './schema.ts'
import { defaultProbabilities, stages } from './stages.ts'

/** A deal without an expected date comes after every date. */
export const by_close_date = sql`coalesce(expected_close_date, 'z')`
/** The probability that answers show (stages.ts), as SQL. */
const by_probability = sql`coalesce(CASE WHEN deals.status = 'open' THEN deals.own_probability
  ELSE deals.closed_probability END, (SELECT choices.probability FROM choices
    WHERE choices.workspace_id = deals.workspace_id AND choices.list = 'deal_stages' AND choices.value = deals.stage),
  CASE deals.stage ${sql.join(
    stages.map((stage) => sql`WHEN ${sql.lit(stage)} THEN ${sql.lit(defaultProbabilities[stage])}`),
    sql` `,
  )} END)`
const by_name = { field: 'name', by: sql.ref('sort_name') }

/** Deals, which move through the stages of stages.ts. */
export const deals = defineResource({
  table: 'deals',
  noun: 'deal',
  about: 'Sales opportunities, from the first stage to won or lost.',
  extension: false,
  columns,
  title: { fields: ['name'] },
  subtitle: 'stage',
  sort_name: ['name'],
  hidden: { own_probability: 'integer', closed_probability: 'integer' },
  orders: [
    [by_name],
    // As a sales team wants it. A deal without a value counts as less than any.
    [{ field: 'value', by: sql`coalesce(value_units, -1)`, numeric: true, descending: true }, by_name],
    [{ field: 'expected_close_date', by: by_close_date }],
  ],
  filter_by: { probability: by_probability },
  filter_aliases: { expected_close: 'expected_close_date' },
  unfinished: { by: 'expected_close_date', where: sql`status = 'open'` },
  parameter_scopes: { progress: 'activities:read', next_activity: 'activities:read' },
  events: [dealCreated, dealUpdated, dealStageChanged, dealWon, dealLost, dealDeleted],
  timeline: { type: 'deal', rank: 4 },
  has_timeline: true,
  owns: { deal_stages: 'deal_id' },
})

declare module '../../db/tables.ts' {
  interface Tables {
    deals: TableOf<typeof columns> & {
      sort_name: Generated<string>
      own_probability: number | null
      closed_probability: number | null
    }
  }
}
