import { isoTime } from '../../clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { forgetSearched } from '../../db/lists/search.ts'
import { pending_removal } from '../../db/records.ts'
import type { Seal } from '../../db/seal.ts'
import type { Context } from '../../events/context.ts'
import { eraseMails, eraseMailsNaming } from '../../mails/erase.ts'
import { createResourceOfEvent } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { removeRecords } from '../trash/removal.ts'
import { forgetEmptyTotals } from '../trash/totals.ts'
import { forgetAnswersOf } from './answers.ts'
import { type EventText, rewriteEvents } from './events.ts'
import { forgetImportsOf } from './imports.ts'
import { redactLinked } from './linked.ts'
import { forgetMergesOf, mergedIds } from './merges.ts'
import { createNaming, readNamed } from './person.ts'
import { erasedPayload, persons_table, redactedPayload } from './redaction.ts'
import { embeddedCopies, findEvents, findLinked, noneLinked } from './references.ts'
import { redactSettings } from './settings.ts'

export type ErasureDeps = {
  db: Db
  seal: Seal
  resources: readonly Resource[]
  /** Stops the erasure before its next step, by an error. The trash job repeats it later. */
  stopping?: AbortSignal
}

/**
 * Erases a marked record (`pending_removal.erasing`): its row, the sides of its audit entries, and its data in events,
 * deliveries and the feed. For a contact, it also erases copies in events of other records, texts of the person as
 * a visitor, and mails. It removes the row last, so an interrupted erasure is found and repeated.
 */
export async function eraseRecord(
  { db, seal, resources, stopping }: ErasureDeps,
  context: Context,
  resource: Resource,
  id: number,
): Promise<void> {
  const { workspace_id } = context
  const { table: kind } = resource
  const of_person = kind === persons_table
  const scan = { workspace_id, stopping }
  const linked = of_person ? await findLinked(db, resources, id, scan) : noneLinked
  // Do this before the events: it waits for changes in flight, which then have emitted their events.
  if (of_person) await redactLinked(db, resources, workspace_id, linked, id)

  const resourceOf = createResourceOfEvent(resources)
  const isOwn = ({ event, record_id }: EventOf) => record_id === id && resourceOf(event) === resource
  const isBooked = ({ event, record_id }: EventOf) =>
    record_id !== null && !!linked.get(resourceOf(event)?.table ?? '')?.get(record_id)
  const copies = of_person ? embeddedCopies(resources, id) : []
  const seqs = await findEvents(
    db,
    scan,
    copies,
    (event) => event.has_copy || isOwn(event) || isBooked(event),
  )
  const now = isoTime(context.now_ms)
  const rewrite = (event: EventText) => {
    if (isOwn(event)) return erasedPayload(event.payload, now)
    const of = resourceOf(event.event)
    return of
      ? redactedPayload(event.payload, now, id, { resource: of, booked: isBooked(event) })
      : event.payload
  }
  const moment = { now_ms: context.now_ms, elapsed_ms: context.elapsed() }
  await rewriteEvents(db, workspace_id, seqs, rewrite, moment)
  if (of_person) await eraseMails(db, { workspace_id, contact_id: id }, now)
  // Do these before the row is removed: it has the values.
  const named = await readNamed(db, workspace_id, resource, id)
  await redactSettings(db, { workspace_id, named, stopping })
  const { names } = createNaming(named)
  if (of_person) await eraseMailsNaming(db, workspace_id, { names, stopping }, now)
  await forgetImportsOf(db, { workspace_id, resource, id, named, stopping })
  // Do this after the events: the answer of a concurrent resend holds the current payload.
  await forgetAnswersOf(db, seal, workspace_id, { kind, id, linked, copies, named })
  await forgetEmptyTotals(db, resources, workspace_id)
  if (resource.duplicates.length) await forgetMergesOf(db, workspace_id, kind, id)
  // Do this before the row is removed: an interrupted erasure is found by its row.
  if (resource.search_index) await forgetSearched(db)
  await removeRecords(db, context, resources, { resource, ids: [id], action: 'erased' }, stopping)
}

type EventOf = Pick<EventText, 'event' | 'record_id'>

/**
 * Marks a record in the trash for erasure, and the records that were merged into it. They can no longer be restored, and the
 * trash job completes the erasure after a crash. Returns their ids; none if the record is not in the trash.
 */
export async function beginErasure(
  tx: Tx,
  workspace_id: number,
  { table, duplicates }: Resource,
  id: number,
): Promise<number[]> {
  if (!(await markErasing(tx, workspace_id, table, id))) return []
  const ids = [id]
  // The list grows while it is walked: a merged record may have survived a merge before.
  for (const one of duplicates.length ? ids : [])
    for (const merged of await mergedIds(tx, workspace_id, table, one))
      if (!ids.includes(merged) && (await markErasing(tx, workspace_id, table, merged))) ids.push(merged)
  return ids
}

async function markErasing(tx: Tx, workspace_id: number, kind: string, id: number): Promise<boolean> {
  const begun = await tx
    .updateTable(kind as 'contacts')
    .set({ deleted_at: pending_removal.erasing })
    .where((eb) => eb.and({ workspace_id, id }))
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
  return begun.numUpdatedRows > 0n
}
