import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../src/clock.ts'
import { transaction } from '../src/db/db.ts'
import { databaseFile, openSqlite } from '../src/db/sqlite/open.ts'
import { insertKey } from '../src/keys/keys.ts'
import { insertWorkspace } from '../src/workspaces/workspaces.ts'
import { client } from './harness.ts'

export type StoredEvent = {
  id: string
  event: string
  timestamp: string
  data: Record<string, unknown>
  changed_fields?: string[]
  previous?: Record<string, unknown>
}

/** Reads what a running service has committed, on a connection of its own that cannot write. */
export function readStored(data_dir: string) {
  const database = new DatabaseSync(databaseFile(data_dir), { readOnly: true })
  const rows = (sql: string, ...values: (string | number)[]) =>
    database
      .prepare(sql)
      .all(...values)
      .map((row) => ({ ...row }))
  return {
    rows,
    /** The payloads of a record's events of one resource, such as deal, in the order in which they were written. */
    events: (resource: string, record_id: number): StoredEvent[] =>
      rows(
        "SELECT payload FROM events WHERE record_id = ? AND event LIKE ? || '.%' ORDER BY seq",
        record_id,
        resource,
      ).map(({ payload }) => JSON.parse(String(payload))),
    close: () => database.close(),
  }
}

/** Makes a workspace beside a running service, as the command line does; calls as its key. */
export async function newWorkspace({ url, data_dir }: { url: string; data_dir: string }) {
  const { db, close } = openSqlite(databaseFile(data_dir))
  const workspace_id = await transaction(db, (tx) => insertWorkspace(tx, systemClock, 'Another'))
  const { token } = await transaction(db, (tx) =>
    insertKey(tx, systemClock, {
      workspace_id,
      name: 'Its key',
      scopes: null,
      expires_at: null,
    }),
  )
  await close()
  return client(url, token)
}
