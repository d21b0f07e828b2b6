import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CompiledQuery, type RootOperationNode } from 'kysely'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../../db/db.ts'
import { engineOf } from '../../db/tx.ts'
import { idsAlong } from './log-sources.ts'

const of_success = 1900
const of_failure = 5
let outbox: Outbox
before(async () => {
  outbox = await openOutbox()
  const { db, workspace_id } = outbox
  await outbox.webhook('wh_1')
  await outbox.events(of_success + of_failure)
  const deliveries = await db.selectFrom('webhook_deliveries').select('id').orderBy('id').execute()
  const rows = deliveries.map(({ id }, n) => ({
    workspace_id,
    delivery_id: id,
    number: 1,
    started_at: '2026-11-28T00:00:00.000Z',
    duration_ms: 1,
    request_url: 'https://acme.example/hook',
    request_headers: '{}',
    response_status: n < of_success ? 204 : 503,
  }))
  await transaction(db, async (tx) => {
    for (let at = 0; at < rows.length; at += 500)
      await tx
        .insertInto('webhook_attempts')
        .values(rows.slice(at, at + 500))
        .execute()
  })
  if (engineOf(db) === 'postgres') await db.executeQuery(CompiledQuery.raw('ANALYZE webhook_attempts'))
})
after(() => outbox.close())

/** The ids of a page with these status codes, and the plans of the statements that found them. */
async function found(codes: number[]) {
  const { db, workspace_id } = outbox
  const nodes: RootOperationNode[] = []
  const watched = db.withPlugin({
    transformQuery: ({ node }) => {
      nodes.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const query = { status_code: { any: codes, not: [] }, removed: [] }
  const ids = await idsAlong(watched, workspace_id, query, { limit: 25, offset: 0, before: null })
  const explain = engineOf(db) === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
  const plans: string[] = []
  for (const node of nodes) {
    const { sql, parameters } = db.getExecutor().compileQuery(node, { queryId: 'explained' })
    const { rows } = await db.executeQuery(CompiledQuery.raw(`${explain} ${sql}`, [...parameters]))
    plans.push(JSON.stringify(rows))
  }
  return { ids, plans }
}

test('deliveries with the status code of a failure are found by the index of failures', async () => {
  const { ids, plans } = await found([503])
  assert.equal(ids?.length, of_failure)
  assert.equal(plans.length, 2)
  for (const plan of plans) assert.match(plan, /webhook_attempts_status/)
})

test('deliveries with the status code of a success are read from the log itself', async () => {
  for (const codes of [[204], [204, 503]]) assert.equal((await found(codes)).ids, null)
})
