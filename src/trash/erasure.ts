import { isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { type Deletable, going } from '../db/records.ts'
import type { Seal } from '../db/seal.ts'
import { forgetSearched } from '../db/search.ts'
import type { Context } from '../events/context.ts'
import { forgetAnswersOf } from './answers.ts'
import { findEvents, kindOf, rewriteEvents } from './events.ts'
import { linked_kinds, noneLinked, redactAudit, redactLinked } from './linked.ts'
import { erasedPayload, type Person, redactedPayload, redactorOf } from './redaction.ts'
import { removeRecords } from './removal.ts'

/**
 * Erases a record that is on its way out (`going.erasing`): its row and what the audit log tells of it, and its data in
 * the events, so in the delivery log and the feed. Of a contact also what names the person in records, events and
 * entries that refer to it. The row goes last, so what was interrupted is found and done again from the beginning.
 */
export async function eraseRecord(
  db: Db,
  seal: Seal,
  context: Context,
  kind: Deletable,
  id: number,
): Promise<void> {
  const { workspace_id } = context
  const of_contact = kind === 'contacts'
  const redact = of_contact ? redactorOf(await personsOf(db, workspace_id, id)) : (text: string) => text
  const person = { contact_id: id, redact }
  // The records first: an event that comes later is made of what they are by then.
  const linked = of_contact ? await redactLinked(db, workspace_id, person) : noneLinked()

  const own = ({ event, record_id }: EventOf) => record_id === id && kindOf(event) === kind
  const about = (event: EventOf) => {
    const of_kind = linked_kinds.find((one) => one === kindOf(event.event))
    return of_kind && event.record_id !== null ? { map: linked[of_kind], id: event.record_id } : null
  }
  const seqs = await findEvents(db, workspace_id, of_contact ? id : null, (event) => {
    const record = about(event)
    // It referred to the contact once.
    if (record && event.names_contact && !record.map.has(record.id)) record.map.set(record.id, false)
    return own(event) || (record?.map.has(record.id) ?? false)
  })
  const now = isoTime(context.now_ms)
  await rewriteEvents(db, workspace_id, seqs, (event) => {
    if (own(event)) return erasedPayload(event.payload, now)
    const record = about(event)
    const by_visitor = record?.map.get(record.id) ?? false
    return redactedPayload(event.payload, now, { ...person, by_visitor })
  })
  await redactAudit(db, workspace_id, linked, person)
  if (of_contact) await forgetAnswersOf(db, seal, workspace_id, id)
  // Before the row goes: while it is there, what was interrupted is done again.
  if (of_contact) await forgetSearched(db)
  await removeRecords(db, context, kind, [id], 'erased')
}

type EventOf = { event: string; record_id: number | null }

const known_by = ['first_name', 'last_name', 'email', 'phone', 'mobile'] as const

/** The contact as it is, and as the audit log knows it from before: people marry, and change their numbers. */
async function personsOf(db: Db, workspace_id: number, id: number): Promise<Person[]> {
  const row = await db
    .selectFrom('contacts')
    .select(known_by)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return []
  const entries = await db
    .selectFrom('audit_log')
    .select(['before', 'after'])
    .where('workspace_id', '=', workspace_id)
    .where('kind', '=', 'contacts')
    .where('record_id', '=', String(id))
    .execute()
  const former = entries
    .flatMap(({ before, after }) => [before, after])
    .flatMap((text) => {
      const fields = (text ? JSON.parse(text) : {}) as Partial<Person>
      // A change of one name went with the other as it is now.
      const named = fields.first_name || fields.last_name ? row : { first_name: null, last_name: null }
      const known = { email: null, phone: null, mobile: null, ...named }
      const person = Object.fromEntries(
        known_by.map((field) => [field, fields[field] ?? known[field as 'email']]),
      )
      return known_by.some((field) => fields[field]) ? [person as Person] : []
    })
  return [row, ...former]
}

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
