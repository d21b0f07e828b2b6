import { type Clock, isoTime } from '../clock.ts'
import { batch, inBatches, oneByOne } from '../db/batches.ts'
import type { Db, Tx } from '../db/db.ts'
import { lockRow } from '../db/locks.ts'
import { contextOf, service } from '../events/context.ts'
import { forgetBookings } from '../resources/appointments/bookings.ts'
import { appointmentRecords, declineLocked } from '../resources/appointments/operations.ts'
import { lapsedRequests } from '../resources/appointments/queries.ts'
import { answer_hours, lapsesAt } from '../resources/appointments/requests.ts'
import { removeOldAddresses } from './limits.ts'

/** Declines requests that nobody answered in time, forgets links of ended appointments, and removes addresses that booked at least a day ago. */
export async function keepUpBookings(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  const asked_before = () => isoTime(clock.now() - answer_hours * 3_600_000)
  // Later steps do not wait until a request that fails is mended.
  const lapsed = oneByOne(
    db,
    stopping,
    (limit) => lapsedRequests(db, { asked_before: asked_before(), now: isoTime(clock.now()), limit }),
    (tx, { workspace_id, id }) => lapse(tx, clock, workspace_id, id),
  )
  await lapsed.catch(() => {})
  await inBatches(db, stopping, (tx) => forgetBookings(tx, isoTime(clock.now())))
  await inBatches(db, stopping, (tx) => removeOldAddresses(tx, clock.elapsed(), batch))
  await lapsed
}

async function lapse(tx: Tx, clock: Clock, workspace_id: number, id: number): Promise<void> {
  await lockRow(tx, 'appointments', workspace_id, id)
  const before = await appointmentRecords.find(tx, workspace_id, id)
  const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
  // A concurrent request may have answered, moved or deleted it.
  if (before?.status !== 'requested' || lapsesAt(before) > context.now_ms) return
  await declineLocked(tx, context, before, { reason: 'Nobody answered in time.' })
}
