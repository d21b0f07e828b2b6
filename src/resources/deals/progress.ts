import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { type Filter, none } from '../../db/lists/filters.ts'
import { byIds } from '../../db/lists/pages.ts'
import { readValue } from '../../http/filter-values.ts'
import type { FilterValues } from '../list-query.ts'
import { type DealProgress, type deal_filters, stage_since } from './schema.ts'

// How far a deal has come: the time since which it is in its stage, and its next step.

type Row = {
  id: number
  stage_since: string | null
  next_id: number | null
  next_type: NonNullable<DealProgress['next_activity']>['type']
  next_subject: string
  next_due_at: string | null
}

const open_of_deal = sql`activities.workspace_id = deals.workspace_id AND activities.deal_id = deals.id
  AND activities.deleted_at IS NULL AND activities.completed_at IS NULL`

const rows = byIds<Row>('deals', (db, those) => ({
  compile: () =>
    sql<Row>`SELECT deals.id,
      (SELECT changed_at FROM deal_stages
        WHERE deal_stages.workspace_id = deals.workspace_id AND deal_stages.deal_id = deals.id
        ORDER BY deal_stages.id DESC LIMIT 1) AS stage_since,
      following.id AS next_id, following.type AS next_type, following.subject AS next_subject,
      following.due_at AS next_due_at
    FROM deals LEFT JOIN activities AS following ON following.id =
      (SELECT activities.id FROM activities WHERE ${open_of_deal}
        ORDER BY coalesce(activities.due_at, 'z'), activities.id LIMIT 1)
    WHERE ${those}`.compile(db),
}))

/** Adds to deals of a list since when they are in their stage, and their open activity that is due first. */
export async function withProgress<Deal extends { id: number }>(
  db: Db,
  workspace_id: number,
  deals: readonly Deal[],
): Promise<(Deal & DealProgress)[]> {
  const ids = deals.map(({ id }) => id)
  const found = new Map((await rows(db, workspace_id, ids)).map((row) => [row.id, row]))
  return deals.map((deal) => ({ ...deal, ...shown(found.get(deal.id)) }))
}

function shown(row: Row | undefined): DealProgress {
  if (!row) return { stage_since: null, next_activity: null }
  const { stage_since, next_id: id, next_type: type, next_subject: subject, next_due_at: due_at } = row
  return { stage_since, next_activity: id === null ? null : { id, type, subject, due_at } } as DealProgress
}

const has_next = sql<boolean>`EXISTS (SELECT 1 FROM activities WHERE ${open_of_deal})`
const isChanged = (comparison: '>' | '>=', time: string) =>
  sql<boolean>`EXISTS (SELECT 1 FROM deal_stages WHERE deal_stages.workspace_id = deals.workspace_id
    AND deal_stages.deal_id = deals.id AND deal_stages.changed_at ${sql.raw(comparison)} ${time})`

/** The filters by progress. No index serves them, so they are tested for each deal that meets the other filters. */
export function progressFilters(query: FilterValues<typeof deal_filters>): Filter[] {
  const { next_activity, stage_since_from: from, stage_since_to: to } = query
  const every = (where: typeof has_next): Filter => ({ where, plain: where })
  return [
    ...(next_activity === 'null' ? [none(has_next)] : next_activity === '!null' ? [every(has_next)] : []),
    ...(from === undefined ? [] : [every(isChanged('>=', timeOf('from', from)))]),
    ...(to === undefined ? [] : [none(isChanged('>', timeOf('to', to)))]),
  ]
}

// The schema has accepted the text.
const timeOf = (end: 'from' | 'to', text: string): string =>
  (readValue({ ...stage_since, end }, text) as { value: string }).value
