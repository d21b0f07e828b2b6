import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOf } from '../engine.ts'
import { startService } from '../faults/service.ts'
import { startPgBouncer } from '../pgbouncer.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { register, total, until } from '../webhooks.ts'

test('all works through PgBouncer in transaction mode, and after a restart of it', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const data_dir = scratchFolder(t)
  const { DATABASE_URL = '' } = await settingsOf(data_dir)
  const pooler = await startPgBouncer(t, DATABASE_URL)
  const env = { DATABASE_URL: pooler.url, LOG_LEVEL: 'warn' }
  const service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  const { call } = service
  const events = ['contact.created', 'contact.updated', 'deal.created', 'deal.won', 'contact.deleted']
  const hook = await register(call, { url: receiver.url, events })

  async function job(number: number) {
    const contact = await call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: `Ruiz ${number}` })
    assert.equal(contact.status, 201, contact.text)
    const contact_id = contact.body.data.id
    const deal = await call('POST', '/api/v1/deals', { name: 'Contract', contact_id })
    assert.equal(deal.status, 201, deal.text)
    for (const reply of [
      await call('PUT', `/api/v1/contacts/${contact_id}`, { title: 'Head' }),
      await call('POST', `/api/v1/deals/${deal.body.data.id}/change-stage`, { stage: 'won' }),
      await call('GET', `/api/v1/contacts?search=${number}`),
      await call('DELETE', `/api/v1/contacts/${contact_id}`),
    ])
      assert.equal(reply.status, 200, reply.text)
  }
  const jobs = (count: number) => Promise.all(Array.from({ length: count }, (_, number) => job(number)))
  await jobs(30)
  await until(() => total(call, 'status=succeeded'), 150)
  await receiver.verify(hook.secret)
  assert.equal(service.complaints(), '')

  await pooler.stop()
  assert.equal((await call('POST', '/api/v1/companies', { name: 'Acme' })).status, 503)
  await pooler.start()
  await until(() => call('GET', '/api/v1/companies'), { status: 200 })
  await jobs(10)
  await until(() => total(call, 'status=succeeded'), 200)
  assert.equal(await service.end('SIGTERM'), 0)
})
