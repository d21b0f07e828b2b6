import type { TestContext } from 'node:test'
import { type Tx, transaction } from '../../src/db/db.ts'
import { type Context, contextOf } from '../../src/events/context.ts'
import { openScratch } from '../engine.ts'

/** The time of the write: later than what was there before. */
export const write_ms = Date.now() + 86_400_000

export type Write = (tx: Tx, context: Context) => Promise<unknown>

/** Begins a write to the newest workspace of a service, on another connection. `commit` ends it. */
export async function beginWrite(t: TestContext, { data_dir }: { data_dir: string }, write: Write) {
  const { db, close } = await openScratch(data_dir)
  const { workspace_id } = await db
    .selectFrom('workspaces')
    .select(({ fn }) => fn.max('id').as('workspace_id'))
    .executeTakeFirstOrThrow()
  const actor = { kind: 'key', id: 'key_test' } as const
  const time = { now: () => write_ms, elapsed: () => write_ms }
  const context = contextOf(time, { workspace_id, actor, request_id: null })
  const [made, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = transaction(db, async (tx) => {
    await write(tx, context)
    made.resolve()
    await ending.promise
  })
  await Promise.race([made.promise, writing])
  const commit = () => {
    ending.resolve()
    return writing
  }
  t.after(commit)
  t.after(close)
  return commit
}
