import { countOf } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { pageIds, perNumber } from '../db/pages.ts'
import { prepare } from '../db/prepare.ts'
import { isLive } from '../db/references.ts'
import { dealsWithReferences } from './queries.ts'
import type { ListedDeal } from './schema.ts'
import { type Stage, type Status, shownProbability, statusOf } from './stages.ts'
import { fromUnits } from './value.ts'

type DealFilter = { stage?: Stage; status?: Status; contact_id?: number; company_id?: number }
type Name = keyof DealFilter
type Parameters = Required<DealFilter> & { workspace_id: number; limit: number; offset: number }

const nothing = { total: 0, deals: [] as ListedDeal[] }

/** One page of live deals, newest first, and the number of all that match every filter. */
export async function listDeals(
  db: Db,
  workspace_id: number,
  asked: DealFilter,
  page: { per_page: number; offset: number },
): Promise<{ total: number; deals: ListedDeal[] }> {
  const filter = { ...asked }
  // A stage has one status: both together match what the stage alone matches, or nothing.
  if (filter.stage && filter.status && statusOf(filter.stage) !== filter.status) return nothing
  if (filter.stage) delete filter.status
  const { contact_id, company_id } = filter
  // A reference to a record in the trash reads null, so no deal shows the id of one.
  if (contact_id && !(await isLive(db, 'contacts', workspace_id, contact_id))) return nothing
  if (company_id && !(await isLive(db, 'companies', workspace_id, company_id))) return nothing

  const names = (Object.keys(filter) as Name[]).filter((name) => filter[name] !== undefined).sort()
  const { per_page: limit, offset } = page
  const parameters = { ...filter, workspace_id, limit, offset } as Parameters
  const { idsOfPage, count } = queriesFor(names)
  const total =
    names.length < 2
      ? await countOf(
          db,
          workspace_id,
          ['deals', ...names.map((name) => `${name}=${filter[name]}`)].join('.'),
        )
      : ((await count(db, parameters))[0]?.n ?? 0)
  if (offset >= total) return { total, deals: [] }
  const ids = names.length
    ? (await idsOfPage(db, parameters)).map(({ id }) => id)
    : await pageIds(db, 'deals', workspace_id, page)
  if (!ids.length) return { total, deals: [] }
  const rows = await withIds(ids.length)(db, { workspace_id, ...ids })
  return { total, deals: rows.map(listed) }
}

type Row = Awaited<ReturnType<ReturnType<typeof withIds>>>[number]

function listed({ value_units, own_probability, closed_probability, ...same }: Row): ListedDeal {
  const stage = same.stage as Stage
  const state = { stage, own_probability, closed_probability }
  return { ...same, stage, value: fromUnits(value_units), probability: shownProbability(state) }
}

// A prepared query has one text, so each combination of filters gets its own, when it is first asked for.
const made = new Map<string, { idsOfPage: ReturnType<typeof idsOf>; count: ReturnType<typeof countingOf> }>()

function queriesFor(names: Name[]) {
  const key = names.join()
  const queries = made.get(key) ?? { idsOfPage: idsOf(names), count: countingOf(names) }
  made.set(key, queries)
  return queries
}

const matching = (db: Db, p: Parameters, names: Name[]) =>
  names.reduce(
    (query, name) => query.where(name, '=', p[name]),
    db.selectFrom('deals').where('workspace_id', '=', p.workspace_id).where('deleted_at', 'is', null),
  )

const countingOf = (names: Name[]) =>
  prepare((db, p: Parameters) => matching(db, p, names).select((eb) => eb.fn.countAll<number>().as('n')))

// The ids come from the index of a filter, so that deep pages do not read the records they skip.
const idsOf = (names: Name[]) =>
  prepare((db, p: Parameters) =>
    matching(db, p, names).select('id').orderBy('id', 'desc').limit(p.limit).offset(p.offset),
  )

type Ids = { workspace_id: number } & Record<number, number>
const withIds = perNumber((count) =>
  prepare((db, p: Ids) =>
    dealsWithReferences(db)
      .select([
        'deals.id',
        'deals.name',
        'deals.value_units',
        'deals.own_probability',
        'deals.closed_probability',
        'deals.stage',
        'contacts.id as contact_id',
        'companies.id as company_id',
        'deals.expected_close_date',
        'deals.status',
      ])
      .where('deals.workspace_id', '=', p.workspace_id)
      .where(
        'deals.id',
        'in',
        Array.from({ length: count }, (_, index) => p[index] as number),
      )
      .orderBy('deals.id', 'desc'),
  ),
)
