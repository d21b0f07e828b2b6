import type { Tx } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { referenceProblems } from '../../db/references.ts'
import type { FieldProblem } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { type Appointment, type AppointmentBody, max_guests } from './schema.ts'

// The guests of an appointment: contacts who also take part. Each has a row, so that a merge can give it to another contact.

/** A body with its guests in the order of their ids, each once, as answers show them. */
export const sortGuests = (body: AppointmentBody): AppointmentBody =>
  Array.isArray(body.guest_ids)
    ? { ...body, guest_ids: [...new Set(body.guest_ids)].sort((a, b) => a - b) }
    : body

/** Problems of guests who are not contacts, or too many. New guests stay locked against deletion. */
export async function guestProblems(
  tx: Tx,
  workspace_id: number,
  { guest_ids }: AppointmentBody,
  before: Pick<Appointment, 'id' | 'guest_ids'> | null,
  problems: readonly FieldProblem[],
): Promise<FieldProblem[]> {
  if (!guest_ids || problems.some(({ field }) => /^guest_ids\b/.test(field))) return []
  const shown = before?.guest_ids ?? []
  // Locks in the order of ids cannot deadlock with a merge.
  const added = guest_ids
    .map((id, n) => ({ id, field: `guest_ids.${n}` }))
    .filter(({ id }) => !shown.includes(id))
    .sort((a, b) => a.id - b.id)
  const values = Object.fromEntries(added.map(({ id, field }) => [field, id]))
  const references = Object.fromEntries(added.map(({ field }) => [field, 'contacts' as const]))
  const unknown = await referenceProblems(tx, workspace_id, values, references)
  if (unknown.length || !before || !added.length) return unknown
  const removed = shown.filter((id) => !guest_ids.includes(id))
  const count =
    (await countOthers(tx, workspace_id, before.id, removed)) + new Set(Object.values(values)).size
  if (count <= max_guests) return []
  const message = `guest_ids must have at most ${max_guests} entries, with guests in the trash and those that a merge united.`
  return [{ field: 'guest_ids', code: 'too_many', message }]
}

/** The rows that stay when some guests go: also those that no answer shows, because a restore or an undo may show them. */
async function countOthers(tx: Tx, workspace_id: number, appointment_id: number, removed: readonly number[]) {
  const { n } = await tx
    .selectFrom('appointment_guests')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where((eb) => eb.and({ workspace_id, appointment_id }))
    .$if(removed.length > 0, (rows) => rows.where('contact_id', 'not in', removed))
    .executeTakeFirstOrThrow()
  return Number(n)
}

type Who = Pick<Context, 'workspace_id' | 'now'>

/** Changes the guests of a locked appointment. Guests in the trash, whom no answer shows, stay. */
export async function saveGuests(
  tx: Tx,
  { workspace_id, now }: Who,
  appointment_id: number,
  before: readonly number[],
  after: readonly number[],
): Promise<void> {
  const removed = before.filter((id) => !after.includes(id))
  const added = after.filter((id) => !before.includes(id))
  if (removed.length)
    await tx
      .deleteFrom('appointment_guests')
      .where((eb) => eb.and({ workspace_id, appointment_id }))
      .where('contact_id', 'in', removed)
      .execute()
  if (added.length)
    await tx
      .insertInto('appointment_guests')
      .values(added.map((contact_id) => ({ workspace_id, appointment_id, contact_id, updated_at: now })))
      .execute()
}

/** Locks the appointment of a guest's row. Returns the ids of the appointment and the guest. */
export async function lockGuest(tx: Tx, workspace_id: number, id: number) {
  const guest = await tx
    .selectFrom('appointment_guests')
    .select(['appointment_id', 'contact_id'])
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirstOrThrow()
  await lockRow(tx, 'appointments', workspace_id, guest.appointment_id)
  return guest
}

/** Gives the row of a guest to another contact, who may be a guest already. */
export const replaceGuest = (tx: Tx, { workspace_id, now }: Who, id: number, contact_id: number) =>
  tx
    .updateTable('appointment_guests')
    .set({ contact_id, updated_at: now })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
