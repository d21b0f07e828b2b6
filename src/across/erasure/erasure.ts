import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { forgetSearched } from '../../db/lists/search.ts'
import { pending_removal } from '../../db/records.ts'
import type { Seal } from '../../db/seal.ts'
import type { Context } from '../../events/context.ts'
import { createResourceOfEvent } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { removeRecords } from '../trash/removal.ts'
import { forgetEmptyTotals } from '../trash/totals.ts'
import { forgetAnswersOf } from './answers.ts'
import { findEvents, rewriteEvents, type StoredEvent } from './events.ts'
import { redactAudit, redactLinked } from './linked.ts'
import { personsOf } from './persons.ts'
import { type About, erasedPayload, persons_table, redactedPayload, redactorOf } from './redaction.ts'
import { findLinked, mentionsOf, noneLinked } from './references.ts'

export type ErasureDeps = {
  db: Db
  seal: Seal
  resources: readonly Resource[]
  /** Ends it, by throwing, before the next step; the cleaning of another time begins again. */
  stopping?: AbortSignal
}

/**
 * Erases a record that is on its way out (`pending_removal.erasing`): its row and what the audit log tells of it, and its data in
 * the events, so in the delivery log and the feed. Of a contact also what names the person in records, events and
 * entries that refer to it. The row goes last, so what was interrupted is found and done again from the beginning.
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
  const linked = of_person ? await findLinked(db, resources, workspace_id, id, stopping) : noneLinked
  const persons = of_person ? await personsOf(db, workspace_id, id, linked) : []
  const erasure = { contact_id: id, redact: redactorOf(persons) }
  // The records first: an event that comes later is made of what they are by then.
  if (of_person) await redactLinked(db, resources, workspace_id, linked, erasure)

  const resourceOf = createResourceOfEvent(resources)
  const own = ({ event, record_id }: EventOf) => record_id === id && resourceOf(event) === resource
  const about = ({ event, record_id }: EventOf): About | null => {
    const of = resourceOf(event)
    const by_visitor = of && record_id !== null ? linked.get(of.table)?.get(record_id) : undefined
    return of && by_visitor !== undefined ? { resource: of, by_visitor } : null
  }
  const concerned = (event: EventOf) => own(event) || about(event) !== null
  const seqs = await findEvents(db, workspace_id, concerned, stopping)
  const now = isoTime(context.now_ms)
  const rewrite = (event: StoredEvent) => {
    const told = about(event)
    if (own(event)) return erasedPayload(event.payload, now)
    return told ? redactedPayload(event.payload, now, erasure, told) : event.payload
  }
  const moment = { now_ms: context.now_ms, elapsed_ms: context.elapsed() }
  await rewriteEvents(db, workspace_id, seqs, rewrite, moment)
  // After the events: a delivery shows what they are by then.
  const { references, embeddings } = mentionsOf(resources, id)
  const mentions = of_person ? [...references, ...embeddings] : []
  await forgetAnswersOf(db, seal, workspace_id, { kind, id, linked, mentions, redact: erasure.redact })
  if (of_person) {
    await forgetEmptyTotals(db, resources, workspace_id)
    // Last of all that is about the contact: by the audit log it is known what else the person was called.
    await redactAudit(db, resources, workspace_id, linked, erasure)
  }
  // Before the row goes: while it is there, what was interrupted is done again.
  if ('search_text' in resource.hidden) await forgetSearched(db)
  await removeRecords(db, context, resources, { resource, ids: [id], action: 'erased' }, stopping)
}

type EventOf = { event: string; record_id: number | null }

/**
 * Begins the erasure of a record in the trash: from here on nothing brings it back, and what is left after a crash is
 * done by the cleaning. False when it is not in the trash.
 */
export async function beginErasure(tx: Db, workspace_id: number, kind: string, id: number): Promise<boolean> {
  const begun = await tx
    .updateTable(kind as 'contacts')
    .set({ deleted_at: pending_removal.erasing })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
  return begun.numUpdatedRows > 0n
}
