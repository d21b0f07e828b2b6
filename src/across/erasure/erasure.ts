import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { forgetSearched } from '../../db/lists/search.ts'
import { type Deletable, going } from '../../db/records.ts'
import type { Seal } from '../../db/seal.ts'
import type { Context } from '../../events/context.ts'
import { kindOf } from '../../events/kinds.ts'
import { removeRecords } from '../trash/removal.ts'
import { forgetEmptyTotals } from '../trash/totals.ts'
import { forgetAnswersOf } from './answers.ts'
import { findEvents, rewriteEvents, type StoredEvent } from './events.ts'
import { redactAudit, redactLinked } from './linked.ts'
import { personsOf } from './persons.ts'
import { type About, erasedPayload, linked_kinds, redactedPayload, redactorOf } from './redaction.ts'
import { findLinked, noneLinked } from './references.ts'

export type ErasureDeps = {
  db: Db
  seal: Seal
  /** Ends it, by throwing, before the next step; the cleaning of another time begins again. */
  stopping?: AbortSignal
}

/**
 * Erases a record that is on its way out (`going.erasing`): its row and what the audit log tells of it, and its data in
 * the events, so in the delivery log and the feed. Of a contact also what names the person in records, events and
 * entries that refer to it. The row goes last, so what was interrupted is found and done again from the beginning.
 */
export async function eraseRecord(
  { db, seal, stopping }: ErasureDeps,
  context: Context,
  kind: Deletable,
  id: number,
): Promise<void> {
  const { workspace_id } = context
  const of_contact = kind === 'contacts'
  const linked = of_contact ? await findLinked(db, workspace_id, id, stopping) : noneLinked()
  const persons = of_contact ? await personsOf(db, workspace_id, id, linked) : []
  const erasure = { contact_id: id, redact: redactorOf(persons) }
  // The records first: an event that comes later is made of what they are by then.
  if (of_contact) await redactLinked(db, workspace_id, linked, erasure)

  const own = ({ event, record_id }: EventOf) => record_id === id && kindOf(event) === kind
  const about = ({ event, record_id }: EventOf): About | null => {
    const of_kind = linked_kinds.find((one) => one === kindOf(event))
    const by_visitor = of_kind && record_id !== null ? linked[of_kind].get(record_id) : undefined
    return of_kind && by_visitor !== undefined ? { kind: of_kind, by_visitor } : null
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
  await forgetAnswersOf(db, seal, workspace_id, { kind, id, linked, redact: erasure.redact })
  if (of_contact) {
    await forgetEmptyTotals(db, workspace_id)
    // Last of all that is about the contact: by the audit log it is known what else the person was called.
    await redactAudit(db, workspace_id, linked, erasure)
    // Before the row goes: while it is there, what was interrupted is done again.
    await forgetSearched(db)
  }
  await removeRecords(db, context, kind, [id], 'erased', stopping)
}

type EventOf = { event: string; record_id: number | null }

/**
 * Begins the erasure of a record in the trash: from here on nothing brings it back, and what is left after a crash is
 * done by the cleaning. False when it is not in the trash.
 */
export async function beginErasure(
  tx: Db,
  workspace_id: number,
  kind: Deletable,
  id: number,
): Promise<boolean> {
  const begun = await tx
    .updateTable(kind as 'contacts')
    .set({ deleted_at: going.erasing })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
  return begun.numUpdatedRows > 0n
}
