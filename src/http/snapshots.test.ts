// runs: both
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as later } from 'node:timers/promises'
import type { Snapshot } from '../db/db.ts'
import { limitSnapshots, streamSnapshot } from './snapshots.ts'

/** Opens snapshots whose connections take time to close, as those of a busy PostgreSQL. */
function slowSnapshots() {
  let open = 0
  const openSnapshot = limitSnapshots({
    openSnapshot: async () => {
      open++
      return {
        db: {} as Snapshot['db'],
        async close() {
          await later(20)
          open--
        },
      }
    },
  })
  return { openSnapshot, open: () => open }
}

test('a client that has read exports to their end can always begin the next one', async () => {
  const { openSnapshot } = slowSnapshots()
  for (let n = 0; n < 6; n++)
    assert.equal(await text(streamSnapshot(await openSnapshot(1), ['id\r\n', '1\r\n'])), 'id\r\n1\r\n')
})

test('an export of a client that reads too slowly ends, and its file has no end', async () => {
  const { openSnapshot, open } = slowSnapshots()
  async function* rows() {
    for (let n = 0; n < 100; n++) yield `${n}\r\n`
  }
  const stream = streamSnapshot(await openSnapshot(1), rows(), { limit_ms: 50 })
  const read: unknown[] = []
  await assert.rejects(async () => {
    for await (const part of stream) {
      read.push(part)
      // It asks for no further part until then.
      while (open()) await later(5)
    }
  }, /more than an hour/)
  assert.ok(read.length < 100)
})

test('an export whose client goes away before or while it reads, and one that fails, close their snapshots', async () => {
  const { openSnapshot, open } = slowSnapshots()
  const unread = streamSnapshot(await openSnapshot(1), ['id\r\n'])
  unread.destroy()
  const half = streamSnapshot(await openSnapshot(1), ['id\r\n', '1\r\n'])
  for await (const _ of half) break
  const failing = streamSnapshot(
    await openSnapshot(2),
    (async function* () {
      yield 'id\r\n'
      throw new Error('The connection is lost.')
    })(),
  )
  await assert.rejects(text(failing), /The connection is lost/)
  while (open()) await later(5)
  assert.equal(await text(streamSnapshot(await openSnapshot(1), [''])), '')
})
