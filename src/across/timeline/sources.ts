import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { bytesOf } from '../../db/sizes.ts'
import { engineOf, prepare } from '../../db/statements/prepare.ts'
import type { EntryType } from './schema.ts'

/** The resources that have a timeline. */
export type Owner = 'contacts' | 'companies' | 'deals'

/** Where an entry stands among those of its type; and how long a note is, which is the one thing that may be long. */
export type Mark = { at: string; id: number; bytes?: number }

type Asked = { workspace_id: number; owner_id: number; at: string; below: number; limit: number }
type Rows = (p: Asked, db: Db) => RawBuilder<unknown>

/**
 * The newest of an owner's rows that come before a mark. They are found by the owner first, and sorted then: without the
 * fence a planner would rather go through the times of the whole workspace, as long as it takes to meet some of this owner.
 */
const newest = (rows: Rows) =>
  prepare((db, p: Asked) => ({
    compile: () =>
      sql<Mark>`WITH own AS MATERIALIZED (${rows(p, db)})
        SELECT * FROM own WHERE (at, id) < (${p.at}, ${p.below})
        ORDER BY at DESC, id DESC LIMIT ${p.limit}`.compile(db),
  }))

const body_bytes = sql`, ${bytesOf('body')} AS bytes`
const nothing = sql``

const live = (table: string, link: string, more = nothing) =>
  newest(
    (p) => sql`
      SELECT created_at AS at, id${more} FROM ${sql.table(table)}
      WHERE workspace_id = ${p.workspace_id} AND ${sql.ref(link)} = ${p.owner_id} AND deleted_at IS NULL`,
  )

// SQLite takes the tables of a CROSS JOIN in the order in which they stand; without statistics it would guess wrong.

// What belongs to the people of a company who are there now.
const ofPeople = (table: string, more = nothing) =>
  newest((p, db) => {
    const theirs = sql`t.workspace_id = contacts.workspace_id AND t.contact_id = contacts.id AND t.deleted_at IS NULL`
    const people = sql`contacts.workspace_id = ${p.workspace_id} AND contacts.company_id = ${p.owner_id}
        AND contacts.deleted_at IS NULL`
    // PostgreSQL without statistics would go through the whole workspace once for each person. OFFSET is a fence.
    return engineOf(db) === 'postgres'
      ? sql`SELECT t.* FROM contacts CROSS JOIN LATERAL (
            SELECT created_at AS at, id${more} FROM ${sql.table(table)} AS t WHERE ${theirs} OFFSET 0) AS t WHERE ${people}`
      : sql`SELECT t.created_at AS at, t.id${more} FROM contacts CROSS JOIN ${sql.table(table)} AS t WHERE ${theirs} AND ${people}`
  })

// The first line of a deal's history is its creation, which has an entry of its own.
const stagesOfDeals = (link: string) =>
  newest(
    (p) => sql`
      SELECT s.changed_at AS at, s.id FROM deals CROSS JOIN deal_stages AS s
      WHERE s.workspace_id = deals.workspace_id AND s.deal_id = deals.id AND deals.workspace_id = ${p.workspace_id} AND deals.${sql.ref(link)} = ${p.owner_id}
        AND deals.deleted_at IS NULL AND s.from_stage IS NOT NULL`,
  )

// Their index goes on with the time.
const changes = (kind: Owner) =>
  prepare((db, p: Asked & { record_id: string }) =>
    db
      .selectFrom('audit_log')
      .select(['occurred_at as at', 'id'])
      .where('workspace_id', '=', p.workspace_id)
      .where('kind', '=', sql.lit(kind))
      .where('record_id', '=', p.record_id)
      .where(sql<boolean>`(occurred_at, id) < (${p.at}, ${p.below})`)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .limit(p.limit),
  )

type Source = (db: Db, asked: Asked & { record_id: string }) => Promise<Mark[]>

/** Where the entries of each resource's timeline come from. */
export const sources: Record<Owner, Partial<Record<EntryType, Source>>> = {
  contacts: {
    change: changes('contacts'),
    note: live('notes', 'contact_id', body_bytes),
    activity: live('activities', 'contact_id'),
    appointment: live('appointments', 'contact_id'),
    deal: live('deals', 'contact_id'),
    stage_change: stagesOfDeals('contact_id'),
  },
  companies: {
    change: changes('companies'),
    note: ofPeople('notes', body_bytes),
    activity: live('activities', 'company_id'),
    appointment: ofPeople('appointments'),
    deal: live('deals', 'company_id'),
    stage_change: stagesOfDeals('company_id'),
  },
  deals: {
    change: changes('deals'),
    activity: live('activities', 'deal_id'),
    stage_change: stagesOfDeals('id'),
  },
}
