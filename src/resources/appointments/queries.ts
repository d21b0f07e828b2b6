import type { Insertable, Updateable } from 'kysely'
import type { Db } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Tables } from '../../db/tables.ts'
import type { Appointment, AppointmentFields } from './schema.ts'

type Key = { workspace_id: number; id: number }
/** For whom and when an appointment is written. */
type By = { workspace_id: number; now: string }

/** Appointments with what they refer to. What is in the trash joins nothing: its id reads null, the reference stays. */
export const appointmentsWithReferences = (db: Db) =>
  db
    .selectFrom('appointments')
    .leftJoin('contacts', (join) =>
      join
        .onRef('contacts.workspace_id', '=', 'appointments.workspace_id')
        .onRef('contacts.id', '=', 'appointments.contact_id')
        .on('contacts.deleted_at', 'is', null),
    )
    .leftJoin('booking_pages', (join) =>
      join
        .onRef('booking_pages.workspace_id', '=', 'appointments.workspace_id')
        .onRef('booking_pages.id', '=', 'appointments.booking_page_id')
        .on('booking_pages.deleted_at', 'is', null),
    )

/** The columns as they are shown, without the notes. */
export const listed_columns = [
  'appointments.id',
  'appointments.title',
  'appointments.type',
  'appointments.start_at',
  'appointments.end_at',
  'contacts.id as contact_id',
  'booking_pages.id as booking_page_id',
  'appointments.location',
  'appointments.status',
  'appointments.cancel_reason',
  'appointments.created_at',
  'appointments.updated_at',
] as const

const live = prepare((db, p: Key) =>
  appointmentsWithReferences(db)
    .select([...listed_columns, 'appointments.notes'])
    .where('appointments.workspace_id', '=', p.workspace_id)
    .where('appointments.id', '=', p.id)
    .where('appointments.deleted_at', 'is', null),
)

/** A live appointment, or null. */
export async function findAppointment(db: Db, workspace_id: number, id: number): Promise<Appointment | null> {
  const [row] = await live(db, { workspace_id, id })
  return row ?? null
}

const linked = prepare((db, p: { link_hash: string }) =>
  db
    .selectFrom('appointments')
    .select(['workspace_id', 'id'])
    .where('link_hash', '=', p.link_hash)
    .where('deleted_at', 'is', null),
)

/** The live appointment of a private link, by the SHA-256 of the link's token; null when there is none. */
export async function findLinkedAppointment(db: Db, link_hash: string): Promise<Key | null> {
  const [row] = await linked(db, { link_hash })
  return row ?? null
}

const stored = prepare((db, p: Key) =>
  db
    .selectFrom('appointments')
    .select('booking_page_id')
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id),
)

/** The booking page that an appointment is kept under, in the trash or not; null when it has none. */
export async function storedPage(db: Db, workspace_id: number, id: number): Promise<number | null> {
  const [row] = await stored(db, { workspace_id, id })
  return row?.booking_page_id ?? null
}

/** The stored fields by which totals are kept. */
export const counted = ['status', 'type', 'contact_id', 'booking_page_id'] as const

const countedAppointment = prepare((db, p: Key) =>
  db
    .selectFrom('appointments')
    .select(counted)
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id),
)

const insert = prepare((db, p: Insertable<Tables['appointments']>) =>
  db
    .insertInto('appointments')
    .values({
      workspace_id: p.workspace_id,
      title: p.title,
      type: p.type,
      start_at: p.start_at,
      end_at: p.end_at,
      contact_id: p.contact_id,
      booking_page_id: p.booking_page_id,
      location: p.location,
      notes: p.notes,
      status: p.status,
      link_hash: p.link_hash,
      created_at: p.created_at,
      updated_at: p.updated_at,
    })
    .returning(['id', ...counted]),
)

export type NewAppointment = AppointmentFields & {
  link_hash?: string | null
  /** By default scheduled. */
  status?: 'scheduled' | 'requested'
}

/** Adds an appointment; returns its id. The database refuses a time that is taken (appointments_overlap). */
export async function insertAppointment(
  tx: Db,
  { workspace_id, now }: By,
  { link_hash = null, status = 'scheduled', ...fields }: NewAppointment,
): Promise<number> {
  const by = { workspace_id, created_at: now, updated_at: now }
  const [row] = await insert(tx, { ...fields, link_hash, status, ...by })
  if (!row) throw new Error('The insert returned no row.')
  await recount(tx, workspace_id, 'appointments', counted, null, row)
  return row.id
}

type Changes = Partial<AppointmentFields> &
  Pick<Updateable<Tables['appointments']>, 'status' | 'cancel_reason'>

/** Changes the given fields of a live appointment. The database refuses a time that is taken (appointments_overlap). */
export async function updateAppointment(
  tx: Db,
  { workspace_id, now }: By,
  id: number,
  changes: Changes,
): Promise<void> {
  // As they are stored: a reference that reads null is counted too.
  const [before] = await countedAppointment(tx, { workspace_id, id })
  const after = await tx
    .updateTable('appointments')
    .set({ ...changes, updated_at: now })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .returning(counted)
    .executeTakeFirstOrThrow()
  await recount(tx, workspace_id, 'appointments', counted, before ?? null, after)
}
