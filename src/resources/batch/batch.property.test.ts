// runs: both
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { readStored, type Stored } from '../../../test/database.ts'
import { engine } from '../../../test/engine.ts'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { beside } from '../../../test/keys.ts'
import { runs } from '../../../test/quick.ts'
import { register } from '../../../test/webhooks.ts'

/** Ids without gaps, as on SQLite. On PostgreSQL, a refused insert uses up an id, and a batch has other ones. */
async function countIds(data_dir: string): Promise<void> {
  const statements = [
    `CREATE FUNCTION next_id() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       EXECUTE format('SELECT coalesce(max(id), 0) + 1 FROM %I', TG_TABLE_NAME) INTO new.id;
       RETURN new;
     END $$`,
    ...Object.keys(bodies).map(
      (table) => `CREATE TRIGGER next_id BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION next_id()`,
    ),
  ]
  await beside(data_dir, async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
  })
}

// Two services get the same items: one as batches, the other one as single requests.
type Side = Rapport & { stored: Stored }
let batches: Side
let singles: Side
before(async () => {
  const start = async () => {
    const rapport = await startRapport({ clock: turnableClock(), roles: ['api'] })
    if (engine === 'postgres') await countIds(rapport.data_dir)
    await register(rapport.call, {
      url: 'http://127.0.0.1:9/',
      events: ['contact.updated', 'deal.won', 'deal.created'],
    })
    const field = { key: 'no', type: 'text', unique: true }
    for (const resource of Object.keys(bodies))
      await rapport.call('POST', '/api/v1/custom-fields', { resource, ...field })
    // The ids that items name. A record that a batch makes has another id.
    for (const [resource, { needed }] of Object.entries(bodies))
      for (let n = 0; n < 9; n++) await rapport.call('POST', `/api/v1/${resource}`, needed)
    return { ...rapport, stored: await readStored(rapport.data_dir) }
  }
  batches = await start()
  singles = await start()
})
after(async () => {
  for (const side of [batches, singles]) {
    await side.stored.close()
    await side.close()
  }
})

const text = fc.constantFrom('Ána', 'Bo', 'Łea', 'x\ny', '', '  trimmed ', 'Max 100%')
const tags = fc.subarray(['a', 'b', 'ü'])
const custom = fc.dictionary(
  // Only one record of a kind may have a value of `no`.
  fc.constantFrom('region', 'größe', 'no'),
  fc.constantFrom('EMEA', 'APAC', 5, true, null),
)
const reference = fc.constantFrom(null, 1, 2, 99)
const email = fc.constantFrom('a@acme.example', 'A@acme.example', 'b@acme.example', 'nobody', null)
const some = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] })
const stage = fc.constantFrom('new_lead', 'demo', 'won', 'lost', 'unknown', null)

const bodies = {
  contacts: {
    data: some({
      first_name: text,
      last_name: text,
      email,
      stage: text,
      company_id: reference,
      tags,
      custom_fields: custom,
    }),
    needed: { first_name: 'Ana', last_name: 'Ruiz' },
    match: 'email',
  },
  companies: {
    data: some({ name: text, website: text, custom_fields: custom }),
    needed: { name: 'Acme' },
    match: 'name',
  },
  deals: {
    data: some({
      name: text,
      value: fc.constantFrom(0, 12.5, 1.00001, null),
      stage,
      probability: fc.constantFrom(5, 101, null),
      lost_reason: fc.constantFrom('price', null),
      contact_id: reference,
      company_id: reference,
    }),
    needed: { name: 'Desks' },
    match: 'name',
  },
  activities: {
    data: some({
      subject: text,
      type: fc.constantFrom('call', 'task', 'unknown'),
      contact_id: reference,
      completed_at: fc.constantFrom('2026-01-01T00:00:00Z', null),
      custom_fields: custom,
    }),
    needed: { subject: 'Call', type: 'call' },
    match: null,
  },
}
type Resource = keyof typeof bodies
type Item = { op: string; id?: number; match?: string; data?: Record<string, unknown> }

const itemOf = ({ data, needed, match }: (typeof bodies)[Resource]): fc.Arbitrary<Item> => {
  const id = fc.integer({ min: 1, max: 9 })
  const full = data.map((some) => ({ ...needed, ...some }))
  const op = (name: string) => fc.constant(name)
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ op: op('create'), data: full }) },
    { weight: 4, arbitrary: fc.record({ op: op('update'), id, data }) },
    { weight: 1, arbitrary: fc.record({ op: op('delete'), id }) },
    ...(match
      ? [{ weight: 3, arbitrary: fc.record({ op: op('upsert'), match: op(match), data: full }) }]
      : []),
  )
}
const batch = fc.oneof(
  ...Object.entries(bodies).map(([resource, of]) =>
    fc.record({
      resource: fc.constant(resource as Resource),
      items: fc.array(itemOf(of), { minLength: 1, maxLength: 30 }),
    }),
  ),
)

/** The effect of an item of a batch, as single requests. */
async function runSingle({ call, stored }: Side, resource: Resource, item: Item): Promise<string> {
  const path = `/api/v1/${resource}`
  const { op, id, data, match } = item
  if (op === 'create') return codeOf(await call('POST', path, data))
  if (op === 'update') return codeOf(await call('PUT', `${path}/${id}`, data))
  if (op === 'delete') return codeOf(await call('DELETE', `${path}/${id}`))
  const value = data?.[match as string]
  const text = typeof value === 'string' ? value.trim().toLowerCase() : ''
  if (!text || text === 'nobody') return 'validation_failed'
  const rows = await stored.rows(
    `SELECT id, ${match} AS value, tags FROM ${resource} WHERE deleted_at IS NULL`,
  )
  const found = rows.filter(({ value }) => String(value).toLowerCase() === text)
  if (found.length > 1) return 'validation_failed'
  const [first] = found
  if (!first) return codeOf(await call('POST', path, data))
  // An upsert adds tags, where PUT replaces them.
  const kept: string[] = JSON.parse(String(first.tags))
  const added = Array.isArray(data?.tags) ? { tags: [...new Set([...kept, ...data.tags])] } : {}
  return codeOf(await call('PUT', `${path}/${first.id}`, { ...data, ...added }))
}
const codeOf = ({ status, body }: Awaited<ReturnType<Rapport['call']>>): string =>
  status < 300 ? 'done' : body.error.code

// Without what differs between two services: random ids, keys, and the slots of totals.
const queries = [
  ...Object.keys(bodies).map((table) => `SELECT * FROM ${table} ORDER BY id`),
  'SELECT event, occurred_at, record_id, payload FROM events ORDER BY seq',
  "SELECT occurred_at, actor_kind, action, kind, record_id, before, after FROM audit_log WHERE kind IN ('contacts', 'companies', 'deals', 'activities') ORDER BY id",
  "SELECT name, sum(n) AS n FROM record_counts WHERE name NOT LIKE 'deliveries.webhook_id%' GROUP BY name HAVING sum(n) <> 0 ORDER BY name",
  'SELECT kind, block, sum(n) AS n FROM record_blocks GROUP BY kind, block HAVING sum(n) <> 0 ORDER BY kind, block',
  'SELECT kind, field, value, record_id FROM field_values ORDER BY kind, field, value, record_id',
  'SELECT definition_id, record_id, sort_value, unique_value FROM defined_values ORDER BY 1, 2',
  'SELECT deal_id, from_stage, to_stage, changed_at FROM deal_stages ORDER BY id',
  'SELECT event, status, count(*) AS n FROM webhook_deliveries GROUP BY event, status ORDER BY event',
]
async function contents({ stored }: Side) {
  const found: object[][] = []
  for (const query of queries) found.push((await stored.rows(query)).map(withoutId))
  return withoutKeys(found)
}
const withoutKeys = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(/key_\w+/g, 'the key'))
const withoutId = (row: Record<string, unknown>) =>
  'payload' in row ? { ...row, payload: { ...JSON.parse(String(row.payload)), id: null } } : row
const searched = async ({ call }: Side) =>
  Promise.all(
    ['ana', 'acme', 'lea'].map(async (word) => (await call('GET', `/api/v1/contacts?search=${word}`)).body),
  )

test('a batch leaves exactly what its items leave as single requests, in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(batch, async ({ resource, items }) => {
      const reply = await batches.call('POST', `/api/v1/${resource}/batch`, { atomic: false, items })
      assert.equal(reply.status, 200, reply.text)
      const codes: string[] = []
      for (const item of items) codes.push(await runSingle(singles, resource, item))
      assert.deepEqual(
        reply.body.data.map(({ error }: { error: { code: string } | null }) => error?.code ?? 'done'),
        codes,
      )
      assert.deepEqual(await contents(batches), await contents(singles))
      assert.deepEqual(await searched(batches), await searched(singles))
    }),
    { numRuns: runs(40), endOnFailure: true },
  )
})
