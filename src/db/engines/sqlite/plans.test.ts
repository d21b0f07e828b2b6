import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { migrate } from '../../migrate.ts'
import { openSqlite } from './open.ts'

const folder = mkdtempSync(join(tmpdir(), 'rapport-plan-'))
const file = join(folder, 'rapport.db')
let reader: DatabaseSync
before(async () => {
  const database = openSqlite(file)
  await migrate(database)
  await database.close()
  reader = new DatabaseSync(file)
})
after(() => {
  reader.close()
  rmSync(folder, { recursive: true })
})

const planOf = (sql: string) =>
  reader
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))

test("each of the log's filters finds its page by an index of its own, without statistics", () => {
  const plan = (where: string) =>
    planOf(`SELECT id FROM webhook_deliveries WHERE workspace_id = 1 AND ${where} ORDER BY id DESC LIMIT +?`)
  for (const [where, index] of [
    ["webhook_id = 'w'", 'webhook_deliveries_webhook'],
    ["webhook_id = 'w' AND status = 'failed'", 'webhook_deliveries_webhook'],
    ["webhook_id = 'w' AND event = 'deal.won'", 'webhook_deliveries_webhook'],
    ["status = 'failed'", 'webhook_deliveries_status'],
    ["event = 'deal.won'", 'webhook_deliveries_name'],
    ["created_at >= '2026' AND created_at <= '2027'", 'webhook_deliveries_time'],
  ] as const)
    assert.match(plan(where).join('; '), new RegExp(`COVERING INDEX ${index}`), where)
})

test('the contacts of a company are listed in order by an index alone', () => {
  const sql =
    'SELECT id FROM contacts WHERE workspace_id = 1 AND deleted_at IS NULL AND company_id = 1 ORDER BY id DESC LIMIT +? OFFSET 1000'
  assert.deepEqual(planOf(sql), [
    'SEARCH contacts USING COVERING INDEX contacts_company_id_all (company_id=? AND workspace_id=? AND deleted_at=?)',
  ])
})

test("a list's filter and its order come from an index alone: no sort, and no deal is read that a page skips", () => {
  for (const condition of [
    '',
    ...['stage', 'status', 'contact_id', 'company_id'].map((name) => `AND ${name} = 1`),
  ]) {
    const sql = `SELECT id FROM deals WHERE workspace_id = 1 AND deleted_at IS NULL ${condition} ORDER BY id DESC LIMIT +? OFFSET 1000`
    const plan = planOf(sql)
    assert.equal(plan.length, 1, plan.join())
    assert.match(plan[0] ?? '', /^SEARCH deals USING (COVERING )?INDEX deals_(\w+_)?live /)
    // Column reads of cursor 0, the table itself, would be reads of the records.
    const steps = reader.prepare(`EXPLAIN ${sql}`).all()
    assert.deepEqual(
      steps.filter(({ opcode, p1 }) => opcode === 'Column' && p1 === 0),
      [],
    )
  }
})

test('the feed of a workspace is read by its own index, also past events of other names', () => {
  for (const order of ['ASC', 'DESC'])
    for (const named of ["event <> 'ping'", "event <> 'ping' AND event = 'deal.won'"])
      assert.deepEqual(
        planOf(`SELECT seq, event, payload FROM events WHERE workspace_id = 1 AND seq > 5 AND seq <= 9 AND ${named}
          ORDER BY seq ${order} LIMIT +?`),
        ['SEARCH events USING INDEX events_feed (workspace_id=? AND seq>? AND seq<?)'],
      )
})

test('the audit log of a caller with few scopes is cut by an index that knows the kind, past no other entry', () => {
  const order = 'ORDER BY occurred_at DESC, id DESC LIMIT +?'
  for (const [where, index] of [
    ["kind = 'deals'", 'audit_log_kind'],
    ["action = 'created' AND coalesce(kind, null) IN ('deals', 'views')", 'audit_log_action'],
    ["actor_id = 'key_1' AND coalesce(kind, null) IN ('deals', 'views')", 'audit_log_actor_id'],
  ] as const) {
    const plan = planOf(`SELECT id, occurred_at FROM audit_log WHERE workspace_id = 1 AND ${where} ${order}`)
    assert.equal(plan.length, 1, plan.join())
    assert.match(plan[0] ?? '', new RegExp(`USING COVERING INDEX ${index} `), where)
  }
})

test('what was changed in the last seconds is read by the index of times, however long the audit log is', () => {
  assert.deepEqual(
    planOf("SELECT id, kind FROM audit_log WHERE workspace_id = 1 AND occurred_at >= '2026'"),
    ['SEARCH audit_log USING INDEX audit_log_time (workspace_id=? AND occurred_at>?)'],
  )
})
