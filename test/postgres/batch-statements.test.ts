import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { transaction } from '../../src/db/db.ts'
import { runBatch } from '../../src/resources/batch.ts'
import { type Writes, writesOf } from '../../src/resources/batch-items.ts'
import { companyRoom } from '../../src/resources/companies/routes.ts'
import { contactRoom } from '../../src/resources/contacts/routes.ts'
import { dealRoom } from '../../src/resources/deals/routes.ts'
import { type Outbox, openOutbox } from '../outbox.ts'

let outbox: Outbox
before(async () => {
  outbox = await openOutbox()
  await outbox.webhook('wh_a', { events: ['contact.created', 'contact.updated', 'deal.created', 'deal.won'] })
})
after(() => outbox.close())

const [contacts, companies, deals] = [contactRoom, companyRoom, dealRoom].map(writesOf) as [
  Writes,
  Writes,
  Writes,
]

/** How many statements a batch sends, and the ids of its records. */
async function sent(writes: Writes, items: unknown[]) {
  const { query } = pg.Client.prototype
  let count = 0
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    count++
    return (query as (...given: unknown[]) => unknown).apply(this, given)
  } as never
  try {
    const outcomes = await transaction(outbox.db, (tx) =>
      runBatch(tx, outbox.context(), writes, items, { atomic: true }),
    )
    return { count, ids: outcomes.map(({ id }) => id as number) }
  } finally {
    pg.Client.prototype.query = query
  }
}

const many = <T>(make: (n: number) => T): T[] => Array.from({ length: 250 }, (_, n) => make(n))

test('a batch of 250 sends its statements once for all items', async () => {
  const company = await sent(companies, [{ op: 'create', data: { name: 'Acme' } }])
  const data = (n: number) => ({
    first_name: 'Ana',
    last_name: `Ruiz${n}`,
    email: `ana${n}@acme.example`,
    tags: ['a', `${n}`],
    company_id: n % 2 ? company.ids[0] : null,
  })
  const created = await sent(
    contacts,
    many((n) => ({ op: 'create', data: data(n) })),
  )
  const { ids } = created
  const updated = await sent(
    contacts,
    ids.map((id, n) => ({ op: 'update', id, data: { stage: `${n % 7}`, tags: ['b'] } })),
  )
  const upserted = await sent(
    contacts,
    many((n) => ({ op: 'upsert', match: 'email', data: { ...data(n + 125), title: 'Head' } })),
  )
  const deleted = await sent(
    contacts,
    ids.map((id) => ({ op: 'delete', id })),
  )
  const won = await sent(
    deals,
    many((n) => ({ op: 'create', data: { name: `${n}`, stage: n % 2 ? 'won' : 'demo', value: n } })),
  )
  const counts = { created, updated, upserted, deleted, won }
  for (const [name, { count }] of Object.entries(counts)) assert.ok(count <= 30, `${name}: ${count}`)
})
