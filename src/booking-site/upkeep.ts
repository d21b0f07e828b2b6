import { type Clock, isoTime } from '../clock.ts'
import { batch, inBatches } from '../db/batches.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { lockRow } from '../db/locks.ts'
import { contextOf, service } from '../events/context.ts'
import { forgetBookings } from '../resources/appointments/bookings.ts'
import { appointmentRecords, declineLocked } from '../resources/appointments/operations.ts'
import { lapsedRequests } from '../resources/appointments/queries.ts'
import { answer_hours, lapsesAt } from '../resources/appointments/requests.ts'
import { removeOldAddresses } from './limits.ts'

/** Declines requests that nobody answered in time, forgets links of ended appointments, and removes addresses that booked at least a day ago. */
export async function keepUpBookings(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  const failures = new Map<string, unknown>()
  for (let more = true; more; ) {
    const asked_before = isoTime(clock.now() - answer_hours * 3_600_000)
    // The query finds failed requests again. Raise the limit, so that they do not displace others.
    const limit = batch + failures.size
    const lapsed = await lapsedRequests(db, { asked_before, now: isoTime(clock.now()), limit })
    for (const { workspace_id, id } of lapsed) {
      stopping?.throwIfAborted()
      const key = `${workspace_id}/${id}`
      if (failures.has(key)) continue
      await transaction(db, (tx) => lapse(tx, clock, workspace_id, id)).catch((error) =>
        failures.set(key, error),
      )
    }
    more = lapsed.length === limit
  }
  await inBatches(db, stopping, (tx) => forgetBookings(tx, isoTime(clock.now())))
  await inBatches(db, stopping, (tx) => removeOldAddresses(tx, clock.elapsed(), batch))
  for (const error of failures.values()) throw error
}

async function lapse(tx: Tx, clock: Clock, workspace_id: number, id: number): Promise<void> {
  await lockRow(tx, 'appointments', workspace_id, id)
  const before = await appointmentRecords.find(tx, workspace_id, id)
  const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
  // A concurrent request may have answered, moved or deleted it.
  if (before?.status !== 'requested' || lapsesAt(before) > context.now_ms) return
  await declineLocked(tx, context, before, { reason: 'Nobody answered in time.' })
}
