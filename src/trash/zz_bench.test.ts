import { sql } from 'kysely'
import { startRapport } from '../../test/harness.ts'
import { engine } from '../../test/engine.ts'
import { beside } from '../../test/keys.ts'
import { transaction } from '../db/db.ts'
import { findLinked } from './references.ts'
import { findEvents } from './events.ts'
const r = await startRapport({ env: { SECRET_KEY: 'a key for tests' } })
const { body: { data: { id } } } = await r.call('POST', '/api/v1/contacts', { first_name: 'Bo', last_name: 'Berg' })
const { body: { data: deal } } = await r.call('POST', '/api/v1/deals', { name: 'For someone else', value: 12.5, source: 'web', contact_id: id })
await r.call('PUT', `/api/v1/deals/${deal.id}`, { name: 'Other' })
await r.call('DELETE', `/api/v1/contacts/${id}`)
const n = engine === 'postgres' ? sql`generate_series(1, 200000) i` : sql`(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i FROM n)`
await beside(r.data_dir, async (db) => { await transaction(db, async (tx) => {
  await sql`INSERT INTO events (id, workspace_id, event, occurred_at, record_id, payload)
    SELECT 'x' || i, 1, 'deal.updated', e.occurred_at, 100000 + i, replace(replace(e.payload, '"contact":{"id":1', '"contact":{"id":777'), '"contact_id":1,', '"contact_id":777,') FROM ${n}, (SELECT * FROM events WHERE event = 'deal.updated') e`.execute(tx)
  await sql`INSERT INTO audit_log (workspace_id, occurred_at, actor_kind, action, kind, record_id, after)
    SELECT 1, a.occurred_at, 'key', 'created', 'deals', '' || (100000 + i), replace(a.after, '"contact_id":1}', '"contact_id":777}') FROM ${n}, (SELECT * FROM audit_log WHERE kind='deals' AND action = 'created') a`.execute(tx)
})
  for (const n of [1, 2]) {
  let t = performance.now()
  const linked = await findLinked(db, 1, id)
  console.log(n, engine, 'linked', Math.round(performance.now() - t), linked.deals.size); t = performance.now()
  const e = await findEvents(db, 1, () => false)
  console.log(n, 'events', Math.round(performance.now() - t), e.length)
  }
})
const t = performance.now()
const a = await r.call('DELETE', `/api/v1/trash/contacts/${id}`)
console.log(a.status, `${Math.round(performance.now() - t)} ms`)
await r.close()
