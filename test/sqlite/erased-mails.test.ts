import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { sql } from 'kysely'
import { batch } from '../../src/db/batches.ts'
import { transaction } from '../../src/db/db.ts'
import { eraseMailsNaming } from '../../src/mails/erase.ts'
import { openOutbox } from '../outbox.ts'

test('an erasure reads a bounded part of the mail log in a statement, however few mails may name the person', async (t) => {
  const outbox = await openOutbox()
  t.after(() => outbox.close())
  const { db, workspace_id } = outbox
  const mails = 2 * batch + 1
  await transaction(db, (tx) =>
    sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${mails})
      INSERT INTO mails (workspace_id, id, kind, status, urgency, recipient, recipient_key, subject, language, text, html,
        message_id, run_at_ms, expires_ms, created_at)
      SELECT ${workspace_id}, 'mail_' || i, 'booking_confirmed', 'sent', 1, '', '', '', 'en', '', '', 'id', 0, 0, '' FROM n`.execute(
      tx,
    ),
  )
  const reads: string[] = []
  const keep = (text: unknown) => /^select .* from "mails"/.test(String(text)) && reads.push(String(text))
  subscribe('rapport:sqlite:statement:begun', keep)
  t.after(() => unsubscribe('rapport:sqlite:statement:begun', keep))
  await eraseMailsNaming(db, workspace_id, { names: () => false, stopping: undefined }, '2026-11-22')
  assert.ok(reads.length > mails / batch, `${reads.length} statements`)
})
