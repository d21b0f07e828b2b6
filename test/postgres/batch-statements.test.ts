import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { transaction } from '../../src/db/db.ts'
import { runBatch } from '../../src/resources/batch/batch.ts'
import { type Writes, writesOf } from '../../src/resources/batch/items.ts'
import { companyRoom } from '../../src/resources/companies/routes.ts'
import { contactRoom } from '../../src/resources/contacts/routes.ts'
import { dealRoom } from '../../src/resources/deals/routes.ts'
import { startRapport } from '../harness.ts'
import { type Outbox, openOutbox } from '../outbox.ts'
import { ask, setUp } from '../people.ts'

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

/** How many statements the work sends over the connection of its transaction. Others read the server's clock meanwhile. */
async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const { query } = pg.Client.prototype
  const counts = new Map<pg.Client, number>()
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    counts.set(this, (counts.get(this) ?? 0) + 1)
    return (query as (...given: unknown[]) => unknown).apply(this, given)
  } as never
  try {
    await work()
    return Math.max(...counts.values())
  } finally {
    pg.Client.prototype.query = query
  }
}

/** How many statements a batch sends, and the ids of its records. */
async function sent(writes: Writes, items: unknown[]) {
  let ids: number[] = []
  const count = await countStatements(async () => {
    const outcomes = await transaction(outbox.db, (tx) =>
      runBatch(tx, outbox.context(), writes, items, { atomic: true }),
    )
    ids = outcomes.map(({ id }) => id as number)
  })
  return { count, ids }
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

test('a batch of each kind and op sends its statements once for 250 items, with unique fields, owners and mentions too', async (t) => {
  const rapport = await startRapport({ roles: ['api'] })
  t.after(() => rapport.close())
  const ada = await setUp(rapport)
  const [{ id: owner_id, name }] = await ask(ada, 'GET', '/members')
  await ask(ada, 'POST', '/webhooks', {
    url: 'http://127.0.0.1:9/hook',
    events: ['*'],
    ordered: true,
    conditions: [{ field: 'source', op: 'ne', value: 'x' }],
  })
  const { id: company_id } = await ask(ada, 'POST', '/companies', { name: 'Acme' })
  const data = (n: number) => ({
    owner_id,
    tags: [`${n}`],
    custom_fields: { number: `${n}`, size: n, free: 'x' },
  })
  const kinds: Record<string, (n: number) => object> = {
    contacts: (n) => ({ first_name: 'Ana', last_name: `${n}`, email: `${n}@acme.example`, company_id }),
    companies: (n) => ({ name: `Acme ${n}`, website: `https://${n}.example` }),
    deals: (n) => ({ name: `${n}`, stage: n % 2 ? 'won' : 'demo', company_id }),
    activities: (n) => ({ subject: `${n}`, body: `Ask @${name}`, company_id }),
  }
  const counts: string[] = []
  for (const [kind, fieldsOf] of Object.entries(kinds)) {
    for (const field of [
      { key: 'number', label: 'Number', type: 'text', unique: true },
      { key: 'size', label: 'Size', type: 'number' },
    ])
      await ask(ada, 'POST', '/custom-fields', { resource: kind, ...field })
    const batch = async (op: string, items: object[]): Promise<number[]> => {
      let answer: { id: number }[] = []
      const count = await countStatements(async () => {
        answer = await ask(ada, 'POST', `/${kind}/batch`, { items })
      })
      if (count > 60) counts.push(`${kind} ${op}: ${count}`)
      return answer.map(({ id }) => id)
    }
    const whole = (n: number) => ({ ...fieldsOf(n), ...data(n) })
    const ids = await batch(
      'create',
      many((n) => ({ op: 'create', data: whole(n) })),
    )
    const changed = (n: number) => ({ ...fieldsOf(n), custom_fields: { number: `new ${n}`, size: -n } })
    await batch(
      'update',
      ids.map((id, n) => ({ op: 'update', id, data: changed(n) })),
    )
    const match = 'custom_fields.number'
    await batch(
      'upsert',
      many((n) => ({ op: 'upsert', match, data: { ...whole(n), tags: [] } })),
    )
    await batch(
      'delete',
      ids.map((id) => ({ op: 'delete', id })),
    )
  }
  assert.deepEqual(counts, [])
})
