import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '../engine.ts'
import { beside } from '../keys.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { company, delivery, log, register, until, webhook } from '../webhooks.ts'
import { report } from './report.ts'
import { startService } from './service.ts'

const bystanders = 8

/** On PostgreSQL, no process knows that an owner has ended before its leases expire. Here they expire at once. */
async function endLeases(data_dir: string): Promise<void> {
  if (engine === 'postgres')
    await beside(data_dir, async (db) => {
      await db.updateTable('webhook_queue').set({ run_at_ms: 0 }).where('claim_id', 'is not', null).execute()
    })
}

test('a delivery that ends the process is failed as interrupted after five times alone; all others arrive', async (t) => {
  const data_dir = scratchFolder(t)
  const receiver = await startReceiver({ answer: { delay_ms: 100 } })
  t.after(() => receiver.close())
  let service = await startService(data_dir)
  t.after(() => service.end('SIGKILL'))
  const { key } = service
  const poison = await register(service.call, { url: `${receiver.url}/poison` })
  for (let n = 0; n < bystanders; n++) await register(service.call, { url: `${receiver.url}/${n}` })

  // The process ends while the receiver has the request, as one does whose memory is used up by it.
  let ended = Promise.withResolvers<void>()
  receiver.answering = ({ path }) => {
    if (path !== '/hook/poison') return { delay_ms: 100 }
    void service.end('SIGKILL').then(() => ended.resolve())
    return 'hang'
  }
  await company(service.call).catch(() => {})
  let crashes = 0
  const settled = async () => (await log(service.call)).every(({ status }) => status !== 'pending')
  for (;;) {
    const how = await Promise.race([
      ended.promise.then(() => 'ended'),
      until(settled, Boolean, 60_000).then(
        () => 'settled',
        () => 'ended',
      ),
    ])
    if (how === 'settled') break
    await ended.promise
    assert.ok(++crashes < 20, 'it ends again and again')
    await endLeases(data_dir)
    ended = Promise.withResolvers()
    service = await startService(data_dir, { key })
  }

  const all = await Promise.all((await log(service.call)).map(({ id }) => delivery(service.call, id)))
  assert.equal(all.length, bystanders + 1)
  for (const { webhook_id, status, attempt_count, attempts } of all) {
    const expected = webhook_id === poison.id ? ['failed', 0] : ['succeeded', 1]
    assert.deepEqual([status, attempt_count], expected)
    if (webhook_id === poison.id)
      assert.deepEqual(
        attempts.map(({ error }) => error?.code),
        Array.from({ length: crashes }, () => 'interrupted'),
      )
  }
  // Once among others at most, then alone.
  assert.ok(crashes === 5 || crashes === 6, `${crashes} crashes`)
  const { status, status_reason } = await webhook(service.call, poison.id)
  assert.equal(status, 'failed')
  assert.match(String(status_reason), /The service stopped during this attempt/)
  report({ fault: 30, figures: `${crashes} crashes`, events: 1, lost: 0 })
})
