import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Tx, transaction } from '../../src/db/db.ts'
import { max_reading_ms } from '../../src/db/engines/postgres/clock.ts'
import { isLive } from '../../src/db/references.ts'
import { readStored, type Stored, type StoredEvent } from '../database.ts'
import { openScratch, settingsOf } from '../engine.ts'
import { client, type Rapport, startRapport } from '../harness.ts'
import { importFile } from '../imports.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Call, register, unlessBusy, until } from '../webhooks.ts'

// Two services on one database: transactions that wait for a lock are in different pools, as with two processes.
let one: Rapport
let two: Rapport
let stored: Stored
let receiver: Receiver
let calls: [Call, Call]
before(async () => {
  receiver = await startReceiver()
  one = await startRapport()
  two = await startRapport({ data_dir: one.data_dir })
  calls = [one.call, client(two.url, one.key)]
  stored = await readStored(one.data_dir)
})
after(async () => {
  await stored.close()
  await two.close()
  await one.close()
  await receiver.close()
})

/** Does the work many times at once, by turns through both services. */
const atOnce = <T>(count: number, work: (call: Call, number: number) => Promise<T>): Promise<T[]> =>
  Promise.all(
    Array.from({ length: count }, (_, number) =>
      work((...words) => unlessBusy(() => (calls[number % 2] as Call)(...words)), number),
    ),
  )

async function made(path: string, body: object): Promise<number> {
  const reply = await one.call('POST', `/api/v1/${path}`, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}
const contact = (name = 'Ruiz') => made('contacts', { first_name: 'Ana', last_name: name })

/** Every event says what it changed: each one must have begun where the one before it ended. */
function checkChain(events: StoredEvent[]): void {
  for (const [at, { previous = {} }] of events.entries()) {
    const before = events[at - 1]?.data
    if (!before) continue
    for (const [field, value] of Object.entries(previous))
      assert.deepEqual(before[field], value, `event ${at} knows the ${field} before`)
    // Each of two processes reads the server's clock to within half of its slowest reading.
    const [earlier, later] = [events[at - 1], events[at]].map((event) => Date.parse(event?.timestamp ?? ''))
    assert.ok(Number(later) >= Number(earlier) - max_reading_ms, `event ${at} is not told as earlier`)
  }
}

const updatesOf = async (resource: string, id: number) =>
  (await stored.events(resource, id)).filter(({ event }) => event === `${resource}.updated`)

async function checkTotals(): Promise<void> {
  for (const table of ['contacts', 'companies', 'deals']) {
    const kept = await stored.rows('SELECT coalesce(sum(n), 0) AS n FROM record_counts WHERE name = ?', table)
    const counted = await stored.rows(`SELECT count(*) AS n FROM ${table} WHERE deleted_at IS NULL`)
    assert.deepEqual(kept, counted, table)
  }
}

test('fifty changes of one contact at once are all made, and none undoes another', async () => {
  const id = await contact()
  const replies = await atOnce(50, (call, n) =>
    call('PUT', `/api/v1/contacts/${id}`, { custom_fields: { [`field_${n}`]: n } }),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  const { custom_fields } = (await one.call('GET', `/api/v1/contacts/${id}`)).body.data
  assert.deepEqual(custom_fields, Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`field_${n}`, n])))
  const updates = await updatesOf('contact', id)
  assert.equal(updates.length, 50)
  checkChain(updates)
})

test('fifty concurrent changes of one deal all succeed, each based on the one before', async () => {
  const id = await made('deals', { name: 'Contract', value: 1000 })
  const fields = ['name', 'source', 'priority'] as const
  const replies = await atOnce(50, (call, n) =>
    call('PUT', `/api/v1/deals/${id}`, { [fields[n % 3] as string]: `By ${n}` }),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  const updates = await updatesOf('deal', id)
  assert.equal(updates.length, 50)
  checkChain(updates)
  const { data } = (await one.call('GET', `/api/v1/deals/${id}`)).body
  for (const field of fields) assert.equal(updates.at(-1)?.data[field], data[field])
})

test('a deal that fifty concurrent requests win is won once', async () => {
  const id = await made('deals', { name: 'Contract' })
  const replies = await atOnce(50, (call) =>
    call('POST', `/api/v1/deals/${id}/change-stage`, { stage: 'won' }),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  const names = (await stored.events('deal', id)).map(({ event }) => event)
  assert.deepEqual(names.sort(), ['deal.created', 'deal.stage_changed', 'deal.won'])
  const history = await stored.rows("SELECT 1 FROM deal_stages WHERE deal_id = ? AND to_stage = 'won'", id)
  assert.equal(history.length, 1)
})

test('deletions and restores of one record at once take turns, and the totals follow', async () => {
  for (const resource of ['contacts', 'companies', 'deals'] as const) {
    const id = resource === 'contacts' ? await contact() : await made(resource, { name: 'Acme' })
    await atOnce(40, async (call, n) => {
      const reply =
        n % 4 < 2
          ? await call('DELETE', `/api/v1/${resource}/${id}`)
          : await call('POST', `/api/v1/${resource}/${id}/restore`)
      assert.ok(reply.status === 200 || (n % 4 < 2 && reply.status === 404), reply.text)
    })
    const singular = { contacts: 'contact', companies: 'company', deals: 'deal' }[resource]
    const [created, ...moves] = (await stored.events(singular, id)).map(({ event }) => event.split('.')[1])
    assert.equal(created, 'created')
    assert.ok(moves.length > 0)
    for (const [at, move] of moves.entries()) assert.equal(move, at % 2 ? 'updated' : 'deleted', `${moves}`)
  }
  await checkTotals()
})

test('a deal that is made or changed while its contact is deleted refers to it only if it came first', async () => {
  let refused = 0
  for (let round = 0; round < 30; round++) {
    const contact_id = await contact()
    const [first, second] = round % 2 ? calls : calls.toReversed()
    const other = await made('deals', { name: 'Another' })
    const [removed, created, changed] = await Promise.all([
      pause(Math.random() * 6).then(() => first!('DELETE', `/api/v1/contacts/${contact_id}`)),
      pause(Math.random() * 6).then(() => second!('POST', '/api/v1/deals', { name: 'New', contact_id })),
      pause(Math.random() * 6).then(() => second!('PUT', `/api/v1/deals/${other}`, { contact_id })),
    ])
    assert.equal(removed.status, 200, removed.text)
    const [gone] = await stored.rows(
      "SELECT seq FROM events WHERE event = 'contact.deleted' AND record_id = ?",
      contact_id,
    )
    for (const [reply, event, right] of [
      [created, 'deal.created', 201],
      [changed, 'deal.updated', 200],
    ] as const) {
      if (reply.status === 422) refused++
      else assert.equal(reply.status, right, reply.text)
      if (reply.status === 422) continue
      const [written] = await stored.rows(
        'SELECT seq FROM events WHERE event = ? AND record_id = ?',
        event,
        reply.body.data.id,
      )
      assert.ok(Number(written?.seq) < Number(gone?.seq), `${event} came after contact.deleted`)
    }
  }
  assert.ok(refused > 0, 'some of them came late')
})

/** Opens a transaction that refers to a live record. `commit` waits until another one waits for a lock on the table. */
async function refer(
  table: 'companies' | 'contacts',
  id: number,
  write: (tx: Tx) => Promise<unknown> = () => Promise.resolve(),
) {
  const { db, close } = await openScratch(one.data_dir)
  const referred = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const reference = transaction(db, async (tx) => {
    assert.ok(await isLive(tx, table, 1, id))
    await write(tx)
    referred.resolve()
    await release.promise
  })
  await referred.promise
  return async function commit() {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${table}%'`
    await until(
      () => stored.rows(waiting),
      (rows) => rows.length > 0,
    )
    release.resolve()
    await reference
    await close()
  }
}

test('a record can be changed while others begin to refer to it, but not deleted', async () => {
  const id = await made('companies', { name: 'Acme' })
  const commit = await refer('companies', id)
  const changed = await one.call('PUT', `/api/v1/companies/${id}`, { industry: 'Rockets' })
  assert.equal(changed.status, 200, changed.text)
  const removed = one.call('DELETE', `/api/v1/companies/${id}`)
  await commit()
  assert.equal((await removed).status, 200)
})

test('the undo of an import keeps a record to which a concurrent transaction begins to refer', async () => {
  const deal_id = await made('deals', { name: 'Contract' })
  const done = await importFile(one, { resource: 'contacts' }, 'first_name,last_name\nImported,Once\n')
  const [contact] = (await one.call('GET', '/api/v1/contacts?search=imported')).body.data
  const commit = await refer('contacts', contact.id, (tx) =>
    tx.updateTable('deals').set({ contact_id: contact.id }).where('id', '=', deal_id).execute(),
  )
  const undone = one.call('POST', `/api/v1/imports/${done.id}/undo`)
  await commit()
  const left = [{ kind: 'contacts', id: contact.id, reason: 'in_use' }]
  assert.deepEqual((await undone).body.data, { restored: 0, left })
  assert.equal((await one.call('GET', `/api/v1/contacts/${contact.id}`)).status, 200)
})

test('a webhook that is deleted while events are made leaves nothing pending, and nothing in the queue', async () => {
  let cancelled = 0
  for (let round = 0; round < 12; round++) {
    const hook = await register(one.call, {
      url: receiver.url,
      events: ['company.created', 'company.updated'],
    })
    const replies = await atOnce(12, async (call, n) => {
      if (n === 6) return pause(5).then(() => call('DELETE', `/api/v1/webhooks/${hook.id}`))
      const reply = await call('POST', '/api/v1/companies', { name: 'Acme' })
      return call('PUT', `/api/v1/companies/${reply.body.data.id}`, { industry: 'Rockets' })
    })
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    // A removal in the background ends what the deletion itself has not.
    await until(
      () =>
        stored.rows(
          `SELECT id FROM webhook_deliveries WHERE webhook_id = ? AND status = 'pending'
           UNION ALL SELECT delivery_id FROM webhook_queue WHERE webhook_id = ?`,
          hook.id,
          hook.id,
        ),
      (left) => left.length === 0,
    )
    cancelled += (
      await stored.rows(
        "SELECT 1 FROM webhook_deliveries WHERE webhook_id = ? AND status = 'cancelled'",
        hook.id,
      )
    ).length
  }
  for (const status of ['pending', 'succeeded', 'failed', 'cancelled'])
    assert.deepEqual(
      await stored.rows(
        'SELECT coalesce(sum(n), 0) AS n FROM record_counts WHERE name = ?',
        `deliveries.status=${status}`,
      ),
      await stored.rows('SELECT count(*) AS n FROM webhook_deliveries WHERE status = ?', status),
      status,
    )
  assert.ok(cancelled > 0, 'some of them were pending when the webhook went')
})

test('an Idempotency-Key that fifty requests use at once makes one record', async () => {
  const replies = await atOnce(50, (call) =>
    call('POST', '/api/v1/companies', { name: 'Only one' }, { 'idempotency-key': 'fifty' }),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201])
  assert.equal(new Set(replies.map(({ body }) => body.data.id)).size, 1)
  assert.equal(replies.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1)
  assert.equal((await stored.rows("SELECT 1 FROM companies WHERE name = 'Only one'")).length, 1)
})

test('a deletion that waits for a lock has the time after its wait, so that no change before it is later', async (t) => {
  const { DATABASE_URL } = await settingsOf(one.data_dir)
  const holder = new pg.Client({ connectionString: DATABASE_URL })
  await holder.connect()
  t.after(() => holder.end())
  const contact_id = await contact('Late')
  const company_id = await made('companies', { name: 'Late' })
  const deal_id = await made('deals', { name: 'Late' })
  const times = { start_at: '2026-11-25T10:00:00.000Z', end_at: '2026-11-25T10:30:00.000Z' }
  const records = {
    notes: [`contacts/${contact_id}/notes`, { body: 'Called' }],
    company_notes: [`companies/${company_id}/notes`, { body: 'Called' }],
    deal_notes: [`deals/${deal_id}/notes`, { body: 'Called' }],
    contacts: ['contacts', { first_name: 'Ana', last_name: 'Late' }],
    companies: ['companies', { name: 'Late' }],
    deals: ['deals', { name: 'Late' }],
    activities: ['activities', { subject: 'Late' }],
    appointments: ['appointments', { title: 'Late', ...times }],
    booking_pages: ['booking-pages', { slug: 'late', title: 'Late', time_zone: 'UTC' }],
  } as const
  for (const [table, [path, body]] of Object.entries(records)) {
    const id = await made(path, body)
    await holder.query('BEGIN')
    await holder.query(`SELECT 1 FROM ${table} WHERE id = $1 FOR UPDATE`, [id])
    const waiting = one.call('DELETE', `/api/v1/${path}/${id}`)
    await pause(600)
    const released_ms = Date.now()
    await holder.query('ROLLBACK')
    assert.equal((await waiting).status, 200)
    const [row] = await stored.rows(`SELECT deleted_at FROM ${table} WHERE id = ?`, id)
    // The service reads the server's clock to within half of its slowest reading.
    assert.ok(
      Date.parse(String(row?.deleted_at)) >= released_ms - max_reading_ms / 2,
      `${table}: ${row?.deleted_at}`,
    )
  }
})
