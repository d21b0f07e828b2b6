import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrate } from '../db/migrate.ts'
import { openSqlite } from '../db/sqlite/open.ts'

test("each of the log's filters finds its page by an index of its own, without statistics", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-plan-'))
  const file = join(folder, 'rapport.db')
  const database = openSqlite(file)
  const reader = new DatabaseSync(file)
  try {
    await migrate(database)
    const plan = (where: string) =>
      reader
        .prepare(
          `EXPLAIN QUERY PLAN SELECT id FROM webhook_deliveries WHERE workspace_id = 1 AND ${where} ORDER BY id DESC LIMIT 25`,
        )
        .all()
        .map((row) => String(row.detail))
        .join('; ')
    for (const [where, index] of [
      ["webhook_id = 'w'", 'webhook_deliveries_webhook'],
      ["webhook_id = 'w' AND status = 'failed'", 'webhook_deliveries_webhook'],
      ["webhook_id = 'w' AND event = 'deal.won'", 'webhook_deliveries_webhook'],
      ["status = 'failed'", 'webhook_deliveries_status'],
      ["event = 'deal.won'", 'webhook_deliveries_name'],
      ["created_at >= '2026' AND created_at <= '2027'", 'webhook_deliveries_time'],
    ] as const)
      assert.match(plan(where), new RegExp(`COVERING INDEX ${index}`), where)
  } finally {
    reader.close()
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
