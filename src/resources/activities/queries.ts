import type { Db } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Activity, ActivityFields, ActivityType } from './schema.ts'

type Key = { workspace_id: number; id: number }
/** For whom and when an activity is written. */
type By = { workspace_id: number; now: string }

/** Activities with what they refer to. What is in the trash joins nothing: its id reads null, the reference stays. */
export const activitiesWithReferences = (db: Db) =>
  db
    .selectFrom('activities')
    .leftJoin('contacts', (join) =>
      join
        .onRef('contacts.workspace_id', '=', 'activities.workspace_id')
        .onRef('contacts.id', '=', 'activities.contact_id')
        .on('contacts.deleted_at', 'is', null),
    )
    .leftJoin('companies', (join) =>
      join
        .onRef('companies.workspace_id', '=', 'activities.workspace_id')
        .onRef('companies.id', '=', 'activities.company_id')
        .on('companies.deleted_at', 'is', null),
    )
    .leftJoin('deals', (join) =>
      join
        .onRef('deals.workspace_id', '=', 'activities.workspace_id')
        .onRef('deals.id', '=', 'activities.deal_id')
        .on('deals.deleted_at', 'is', null),
    )

/** The columns of the list view, as they are shown. */
export const listed_columns = [
  'activities.id',
  'activities.type',
  'activities.subject',
  'activities.due_at',
  'activities.completed_at',
  'activities.outcome',
  'contacts.id as contact_id',
  'companies.id as company_id',
  'deals.id as deal_id',
  'activities.created_at',
  'activities.updated_at',
] as const

const live = prepare((db, p: Key) =>
  activitiesWithReferences(db)
    .select([...listed_columns, 'activities.body'])
    .where('activities.workspace_id', '=', p.workspace_id)
    .where('activities.id', '=', p.id)
    .where('activities.deleted_at', 'is', null),
)

/** A live activity, or null. */
export async function findActivity(db: Db, workspace_id: number, id: number): Promise<Activity | null> {
  const [row] = await live(db, { workspace_id, id })
  return row ? { ...row, type: row.type as ActivityType } : null
}

/** The stored fields by which totals are kept. */
export const counted = ['type', 'contact_id', 'company_id', 'deal_id'] as const

/** Adds an activity; returns its id. */
export async function insertActivity(
  tx: Db,
  { workspace_id, now }: By,
  fields: ActivityFields,
): Promise<number> {
  const { id } = await tx
    .insertInto('activities')
    .values({ ...fields, workspace_id, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  await recount(tx, workspace_id, 'activities', counted, null, fields)
  return id
}

const countedActivity = prepare((db, p: Key) =>
  db
    .selectFrom('activities')
    .select(counted)
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id),
)

/** Changes the given fields of a live activity. */
export async function updateActivity(
  tx: Db,
  { workspace_id, now }: By,
  id: number,
  changes: Partial<ActivityFields>,
): Promise<void> {
  // As they are stored: a reference that reads null is counted too.
  const [before] = await countedActivity(tx, { workspace_id, id })
  const after = await tx
    .updateTable('activities')
    .set({ ...changes, updated_at: now })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .returning(counted)
    .executeTakeFirstOrThrow()
  await recount(tx, workspace_id, 'activities', counted, before ?? null, after)
}
