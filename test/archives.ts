import assert from 'node:assert/strict'
import { insertWorkspace } from '../src/access/workspaces.ts'
import { systemClock } from '../src/clock.ts'
import { transaction } from '../src/db/db.ts'
import { command_line } from '../src/events/context.ts'
import { dataOf } from './envelope.ts'
import type { Rapport } from './harness.ts'
import { ended, upload } from './imports.ts'
import { beside, makeKey } from './keys.ts'

// Archives of workspaces, as tests export and import them.

/** A key of a workspace. */
export type Caller = Pick<Rapport, 'url' | 'key' | 'call'>

/** The data of an answer that succeeds. */
export const data = async ({ call }: Caller, method: string, path: string, body?: object) => {
  return dataOf(await call(method, `/api/v1/${path}`, body))
}

/** The archive of a workspace. */
export async function exported({ url, key }: Caller): Promise<Buffer> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/api/v1/workspace/export`, { headers })
  if (response.status !== 200) assert.fail(await response.text())
  return Buffer.from(await response.arrayBuffer())
}

/** Imports an archive, and waits for its end. */
export async function imported(to: Caller, file: Uint8Array, query = '') {
  const reply = await upload(to, `?resource=workspace${query}`, file, { 'content-type': 'application/gzip' })
  assert.equal(reply.status, 202, reply.text)
  return ended(to, reply.body.data.id)
}

/** Makes a workspace in a service that runs. */
export async function workspaceOf(rapport: Rapport): Promise<Caller> {
  const workspace_id = await beside(rapport.data_dir, (db) =>
    transaction(db, (tx) => insertWorkspace(tx, systemClock, command_line, 'Elsewhere')),
  )
  const { token, call } = await makeKey(rapport, { workspace_id })
  return { url: rapport.url, key: token, call }
}
