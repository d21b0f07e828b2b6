import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Tables } from '../../db/tables.ts'
import type { Deal, PlainFields } from './schema.ts'
import { type DealState, type Stage, shownProbability } from './stages.ts'
import { fromUnits, toUnits } from './value.ts'

/** What GET shows of a deal, and beside it what only the rules know. */
export type StoredDeal = { shown: Deal; state: DealState }

type Key = { workspace_id: number; id: number }
/** For whom, when and by whom a deal is written. */
type By = { workspace_id: number; actor: { kind: string; id: string | null }; now: string }

/** Deals with what they refer to. What is in the trash joins nothing: id and object read null, the reference stays. */
export const dealsWithReferences = (db: Db) =>
  db
    .selectFrom('deals')
    .leftJoin('contacts', (join) =>
      join
        .onRef('contacts.workspace_id', '=', 'deals.workspace_id')
        .onRef('contacts.id', '=', 'deals.contact_id')
        .on('contacts.deleted_at', 'is', null),
    )
    .leftJoin('companies', (join) =>
      join
        .onRef('companies.workspace_id', '=', 'deals.workspace_id')
        .onRef('companies.id', '=', 'deals.company_id')
        .on('companies.deleted_at', 'is', null),
    )

/** Deals with everything that the detail view is made of. */
export const detailedDeals = (db: Db) =>
  dealsWithReferences(db).select([
    'deals.id',
    'deals.name',
    'deals.value_units',
    'deals.own_probability',
    'deals.closed_probability',
    'deals.stage',
    'deals.status',
    'deals.expected_close_date',
    'deals.priority',
    'deals.source',
    'deals.lost_reason',
    'deals.closed_at',
    'deals.created_at',
    'deals.updated_at',
    'contacts.id as contact_id',
    'contacts.first_name',
    'contacts.last_name',
    'companies.id as company_id',
    'companies.name as company_name',
  ])

const live = prepare((db, p: Key) =>
  detailedDeals(db)
    .where('deals.workspace_id', '=', p.workspace_id)
    .where('deals.id', '=', p.id)
    .where('deals.deleted_at', 'is', null),
)

/** A live deal with the state that the rules work on, or null. */
export async function findStoredDeal(db: Db, workspace_id: number, id: number): Promise<StoredDeal | null> {
  const [row] = await live(db, { workspace_id, id })
  return row ? storedDeal(row) : null
}

/** What a row of detailedDeals is. */
export function storedDeal(row: Awaited<ReturnType<typeof live>>[number]): StoredDeal {
  const { value_units, own_probability, closed_probability, first_name, last_name, company_name, ...same } =
    row
  const stage = row.stage as Stage
  const { lost_reason, closed_at, contact_id, company_id } = row
  const state = { stage, own_probability, closed_probability, lost_reason, closed_at }
  const shown = {
    ...same,
    stage,
    value: fromUnits(value_units),
    probability: shownProbability(state),
    contact:
      contact_id === null
        ? null
        : { id: contact_id, first_name: first_name ?? '', last_name: last_name ?? '' },
    company: company_id === null ? null : { id: company_id, name: company_name ?? '' },
  }
  return { shown, state }
}

/** A live deal as GET shows it, or null. */
export async function findDeal(db: Db, workspace_id: number, id: number): Promise<Deal | null> {
  const deal = await findStoredDeal(db, workspace_id, id)
  return deal?.shown ?? null
}

/** The stored fields by which totals are kept. */
export const counted = ['stage', 'status', 'contact_id', 'company_id'] as const

const countedDeal = prepare((db, p: Key) =>
  db.selectFrom('deals').select(counted).where('workspace_id', '=', p.workspace_id).where('id', '=', p.id),
)

const insert = prepare((db, p: Insertable<Tables['deals']>) =>
  db
    .insertInto('deals')
    .values({
      workspace_id: p.workspace_id,
      name: p.name,
      sort_name: p.sort_name,
      value_units: p.value_units,
      stage: p.stage,
      own_probability: p.own_probability,
      closed_probability: p.closed_probability,
      lost_reason: p.lost_reason,
      closed_at: p.closed_at,
      contact_id: p.contact_id,
      company_id: p.company_id,
      expected_close_date: p.expected_close_date,
      priority: p.priority,
      source: p.source,
      created_at: p.created_at,
      updated_at: p.updated_at,
    })
    .returning(['id', ...counted]),
)

/** Adds a deal, and the first line of its history of stages; returns its id. */
export async function insertDeal(tx: Db, by: By, fields: PlainFields, state: DealState): Promise<number> {
  const { workspace_id, now } = by
  const { value, ...rest } = fields
  const [row] = await insert(tx, {
    ...rest,
    ...state,
    workspace_id,
    sort_name: sortName(fields.name),
    value_units: toUnits(value),
    created_at: now,
    updated_at: now,
  })
  if (!row) throw new Error('The insert returned no row.')
  await recount(tx, workspace_id, 'deals', counted, null, row)
  await addStage(tx, by, row.id, null, state.stage)
  return row.id
}

/** Changes the given fields and columns of a live deal. `touch` false keeps updated_at: nothing that GET shows changes. */
export async function updateDeal(
  tx: Db,
  { workspace_id, now }: By,
  id: number,
  { value, ...values }: Partial<PlainFields & DealState>,
  touch: boolean,
): Promise<void> {
  const changes: Updateable<Tables['deals']> = { ...values }
  if (value !== undefined) changes.value_units = toUnits(value)
  if (values.name !== undefined) changes.sort_name = sortName(values.name)
  if (touch) changes.updated_at = now
  const [before] = await countedDeal(tx, { workspace_id, id })
  const after = await tx
    .updateTable('deals')
    .set(changes)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .returning(counted)
    .executeTakeFirstOrThrow()
  await recount(tx, workspace_id, 'deals', counted, before ?? null, after)
}

const insertStage = prepare(
  (
    db,
    p: { workspace_id: number; deal_id: number; from: string | null; to: string; at: string; by: string },
  ) =>
    db.insertInto('deal_stages').values({
      workspace_id: p.workspace_id,
      deal_id: p.deal_id,
      from_stage: p.from,
      to_stage: p.to,
      changed_at: p.at,
      changed_by: p.by,
    }),
)

/** Adds a line to a deal's history of stages; `from` null on creation. */
export async function addStage(
  tx: Db,
  { workspace_id, actor, now }: By,
  deal_id: number,
  from: Stage | null,
  to: Stage,
): Promise<void> {
  await insertStage(tx, { workspace_id, deal_id, from, to, at: now, by: actor.id ?? actor.kind })
}
