import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { sourcesOf } from '../../src/across/timeline/sources.ts'
import { momentOf } from '../../src/clock.ts'
import { type Tx, transaction } from '../../src/db/db.ts'
import { appointmentRoom } from '../../src/resources/appointments/routes.ts'
import { runBatch } from '../../src/resources/batch/batch.ts'
import { type Writes, writesOf } from '../../src/resources/batch/items.ts'
import { companyRoom } from '../../src/resources/companies/routes.ts'
import { contactRoom } from '../../src/resources/contacts/routes.ts'
import { dealRoom } from '../../src/resources/deals/routes.ts'
import { rooms } from '../../src/resources/index.ts'
import { recordsOf } from '../../src/resources/writing/records.ts'
import { claimDue, type LoadedClaim } from '../../src/webhooks/delivery/claim.ts'
import { record } from '../../src/webhooks/delivery/record.ts'
import { type Outbox, openOutbox } from '../outbox.ts'

// A plan that reads a whole table for each batch makes a long queue slower, the longer it is. The number of rows shows it
// at once, and does not depend on the machine.

let outbox: Outbox
before(async () => {
  outbox = await openOutbox()
  await outbox.webhook('wh_a')
})
after(() => outbox.close())

const most_rows = 10

type Reads = Map<string, number>

/** The rows of each table that this connection has read, by scans and by indexes. */
async function rowsRead(tx: Tx): Promise<Reads> {
  const { rows } = await sql<{ name: string; n: string }>`
    SELECT relname AS name, seq_tup_read + idx_tup_fetch AS n FROM pg_stat_xact_user_tables`.execute(tx)
  return new Map(rows.map(({ name, n }) => [name, Number(n)]))
}

/** Runs it in a transaction. Adds the tables of which each item reads more than a few rows to `many`. */
const checked = <T>(
  many: string[],
  what: string,
  items: number,
  work: (tx: Tx) => Promise<T>,
  db = outbox.db,
): Promise<T> =>
  transaction(db, async (tx) => {
    // PostgreSQL may still count an earlier transaction of the connection.
    const before = await rowsRead(tx)
    const result = await work(tx)
    for (const [table, after] of await rowsRead(tx)) {
      const each = (after - (before.get(table) ?? 0)) / items
      if (each > most_rows) many.push(`${what}: ${each} of ${table}`)
    }
    return result
  })

/** Runs it with as old statistics as a service may have: it renews them when a table has 500 rows, and four times as many. */
async function inEachState(
  add: (from: number, to: number) => Promise<unknown>,
  run: (what: string) => unknown,
  db = outbox.db,
) {
  const analyze = () => sql`ANALYZE`.execute(db)
  await add(0, 500)
  await analyze()
  await run('few')
  await add(500, 2000)
  await run('old statistics')
  await analyze()
  await run('new statistics')
}

async function deliver(many: string[], what: string, count: number) {
  const { clock, workspace_id } = outbox
  const webhooks = [{ workspace_id, webhook_id: 'wh_a' }]
  const lease = { claim_id: 'one', moment: momentOf(clock), lease_ms: 40_000, fits: () => true, idle: false }
  const claims = await checked(many, `claims, ${what}`, count, (tx) =>
    claimDue(tx, { ...lease, webhooks, limit: () => count }),
  )
  assert.equal(claims.length, count)
  await checked(many, `outcomes, ${what}`, count, (tx) => record(tx, claims.map(succeeded), [60]))
}

const succeeded = (claim: LoadedClaim) => ({
  claim,
  outcome: {
    started_at_ms: outbox.clock.now(),
    duration_ms: 1,
    request: { url: claim.url, headers: {} },
    response: { status: 200, headers: {}, body: '' },
    error: null,
    ok: true,
  },
  ended: momentOf(outbox.clock),
})

for (const ordered of [0, 1] as const)
  test(`a delivery reads as few rows of a long queue as of a short one${ordered ? ', in order too' : ''}`, async () => {
    await outbox.db.updateTable('webhooks').set({ ordered }).execute()
    const many: string[] = []
    await inEachState(
      (from, to) => outbox.events(to - from),
      (what) => deliver(many, what, 100),
    )
    assert.deepEqual(many, [])
  })

test('an upsert reads as few rows of a new database, before its first ANALYZE', async (t) => {
  const fresh = await openOutbox()
  t.after(() => fresh.close())
  const many: string[] = []
  const [contacts, companies, deals] = [contactRoom, companyRoom, dealRoom].map(writesOf) as Writes[]
  const run = async (writes: Writes | undefined, what: string, items: object[]) => {
    await checked(
      many,
      what,
      items.length,
      (tx) => runBatch(tx, fresh.context(), writes as Writes, items, { atomic: true }),
      fresh.db,
    )
  }
  const data = (n: number) => ({ name: `Acme ${n}` })
  const person = (n: number) => ({ first_name: 'Ana', last_name: `Ruiz${n}`, email: `ana${n}@acme.example` })
  const numbers = Array.from({ length: 1000 }, (_, n) => n)
  const of = (writes: Writes | undefined, make: (n: number) => object, match: string) => ({
    writes,
    make,
    match,
  })
  for (const { writes, make, match } of [
    of(contacts, person, 'email'),
    of(companies, (n) => ({ ...data(n), website: `https://${n}.example` }), 'website'),
    of(companies, (n) => data(1000 + n), 'name'),
    of(deals, data, 'name'),
  ]) {
    const created = numbers.map((n) => ({ op: 'create', data: make(n) }))
    await run(writes, `create for ${match}`, created)
    const upserts = numbers
      .slice(0, 100)
      .map((n) => ({ op: 'upsert', match, data: { ...make(n), tags: ['a'] } }))
    await run(writes, `upsert by ${match}`, upserts)
    await run(writes, `one upsert by ${match}`, upserts.slice(0, 1))
  }
  assert.deepEqual(many, [])
})

test('an item of a batch reads as few rows of many as of few', async () => {
  const many: string[] = []
  const [contacts, companies] = [contactRoom, companyRoom].map(writesOf) as [Writes, Writes]
  const data = (n: number) => ({
    first_name: 'Ana',
    last_name: `Ruiz${n}`,
    email: `ana${n}@acme.example`,
    tags: ['a', `${n}`],
    company_id: n + 1,
  })
  const some = <T>(from: number, to: number, make: (n: number) => T): T[] =>
    Array.from({ length: to - from }, (_, n) => make(from + n))
  const run = async (writes: Writes, items: unknown[], what: string) => {
    const ids: number[] = []
    for (let from = 0; from < items.length; from += 1000) {
      const wave = items.slice(from, from + 1000)
      const outcomes = await checked(many, what, wave.length, (tx) =>
        runBatch(tx, outbox.context(), writes, wave, { atomic: true }),
      )
      ids.push(...outcomes.map(({ id }) => id as number))
    }
    assert.ok(ids.every(Boolean), what)
    return ids
  }
  await inEachState(
    async (from, to) => {
      const company = (n: number) => ({
        op: 'create',
        data: { name: `Acme ${n}`, website: `https://${n}.example` },
      })
      await run(companies, some(from, to, company), `companies to ${to}`)
      await run(
        contacts,
        some(from, to, (n) => ({ op: 'create', data: data(n) })),
        `contacts to ${to}`,
      )
    },
    async (what) => {
      const new_ones = some(10_000, 10_100, (n) => ({ op: 'create', data: { ...data(n), company_id: 1 } }))
      const ids = await run(contacts, new_ones, `${what} to create`)
      const upserts = (match: string, make: (n: number) => object) =>
        some(0, 100, (n) => ({ op: 'upsert', match, data: make(n) }))
      await run(
        contacts,
        upserts('email', (n) => ({ ...data(n), title: 'Head' })),
        `${what} by e-mail`,
      )
      await run(
        companies,
        upserts('name', (n) => ({ name: `Acme ${n}`, industry: what })),
        `${what} by name`,
      )
      await run(
        companies,
        upserts('website', (n) => ({ name: `Acme ${n}`, website: `https://${n}.example/` })),
        `${what} by website`,
      )
      await run(
        contacts,
        ids.map((id) => ({ op: 'update', id, data: { stage: what } })),
        `${what} to update`,
      )
      await run(
        contacts,
        ids.map((id) => ({ op: 'delete', id })),
        `${what} to delete`,
      )
    },
  )
  assert.deepEqual(many, [])
})

test('timelines and views of appointments read as few rows of many as of few, also those with guests', async (t) => {
  const fresh = await openOutbox()
  t.after(() => fresh.close())
  const { db } = fresh
  const many: string[] = []
  const source = sourcesOf(contactRoom.resource, rooms).find(({ type }) => type === 'appointment')
  assert.ok(source)
  const { find } = recordsOf(appointmentRoom.resource)
  const now = '2026-11-21T08:30:00.000Z'
  // Each appointment has three guests, and each 40th the contact 1, too.
  const add = async (from: number, to: number) => {
    const numbers = sql`generate_series(${sql.lit(from + 1)}, ${sql.lit(to)}) AS n`
    for (const rows of [
      sql`contacts (workspace_id, id, first_name, last_name, search_text, created_at, updated_at)
        SELECT 1, n, 'Ana', 'Ruiz', '', ${now}, ${now} FROM ${numbers}`,
      sql`appointments (workspace_id, id, title, start_at, end_at, status, created_at, updated_at)
        SELECT 1, n, 'Demo', '2030-01-01', '2030-01-02', 'cancelled', ${now}, ${now} FROM ${numbers}`,
      sql`appointment_guests (workspace_id, appointment_id, contact_id, updated_at)
        SELECT 1, n, CASE k WHEN 0 THEN 1 ELSE 2 + (7 * n + k) % ${sql.lit(to - 1)} END, ${now}
        FROM ${numbers}, generate_series(0, 3) AS k WHERE k > 0 OR n % 40 = 0`,
    ])
      await sql`INSERT INTO ${rows}`.execute(db)
  }
  const position = { record_id: '1', at: '9', below: Number.MAX_SAFE_INTEGER, limit: 100 }
  const ids = Array.from({ length: 100 }, (_, n) => n + 1)
  let count = 0
  await inEachState(
    async (from, to) => {
      await add(from, to)
      count = Math.floor(to / 40)
    },
    async (what) => {
      await checked(
        many,
        `timeline, ${what}`,
        count,
        async (tx) => {
          const marks = await source.marks(tx, { workspace_id: 1, owner_id: 1, ...position })
          assert.equal(marks.length, count)
        },
        db,
      )
      await checked(
        many,
        `views, ${what}`,
        ids.length,
        async (tx) => {
          for (const id of ids) assert.ok(await find(tx, 1, id))
        },
        db,
      )
    },
    db,
  )
  assert.deepEqual(many, [])
})
