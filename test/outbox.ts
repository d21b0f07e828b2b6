import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isoTime } from '../src/clock.ts'
import { transaction } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { createSeal } from '../src/db/seal.ts'
import { contextOf } from '../src/events/context.ts'
import { emit } from '../src/events/emit.ts'
import { companyCreated } from '../src/resources/companies/resource.ts'
import { findDelivery } from '../src/webhooks/log/deliveries.ts'
import { insertWebhook } from '../src/webhooks/registration/queries.ts'
import { openScratch, removeScratch } from './engine.ts'
import { turnableClock } from './harness.ts'

/** A migrated database of one workspace with webhooks and events, without a service around it. */
export async function openOutbox() {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-outbox-'))
  const database = await openScratch(folder)
  await migrate(database)
  const { db } = database
  const clock = turnableClock()
  const seal = createSeal('a key for tests, of 32 characters')
  const workspace_id = 1
  const actor = { kind: 'key', id: 'key_test' } as const
  const context = () => contextOf(clock, { workspace_id, actor, request_id: null })
  let closed: Promise<void> | undefined
  const closeDatabase = () => {
    closed ??= database.close()
    return closed
  }
  return {
    folder,
    database,
    db,
    clock,
    seal,
    workspace_id,
    context,
    /** Adds a webhook, by default for company.created. */
    async webhook(
      id: string,
      {
        url = `http://127.0.0.1:9/${id}`,
        secret = seal.seal('a secret for tests'),
        events = ['company.created'],
      } = {},
    ) {
      const webhook = { id, name: null, url, secret, events }
      await transaction(db, (tx) => insertWebhook(tx, workspace_id, isoTime(clock.now()), webhook))
    },
    /** Writes events, with a delivery for each webhook. */
    events: (count = 1) =>
      transaction(db, async (tx) => {
        for (let n = 0; n < count; n++) await emit(tx, context(), companyCreated, { id: n + 1 })
      }),
    /** All deliveries with their attempts, oldest first. */
    async deliveries() {
      const rows = await db.selectFrom('webhook_deliveries').select('id').orderBy('id').execute()
      const found = await Promise.all(rows.map(({ id }) => findDelivery(db, workspace_id, id)))
      return found.filter((one) => one !== null)
    },
    queue: () => db.selectFrom('webhook_queue').selectAll().orderBy('delivery_id').execute(),
    closeDatabase,
    async close() {
      await closeDatabase()
      await removeScratch(folder)
    },
  }
}
export type Outbox = Awaited<ReturnType<typeof openOutbox>>
