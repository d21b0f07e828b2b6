import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { scratchFolder } from '../process.ts'
import { company, register, total, until } from '../webhooks.ts'
import { report } from './report.ts'
import { type Service, startService } from './service.ts'
import { smallMemory } from './small-memory.ts'

const webhooks = 60
const updates = 20
// Three bytes for each character, and an update carries the old text beside the new one.
const notes_length = 65_535
const payload_bytes = 2 * 3 * notes_length
// Small events are answered at once: an endpoint that answers is given more at once.
const warm_up = 12
const answer_after_ms = 1500

/** A receiver that keeps nothing but which deliveries came whole, by their ids. */
async function startSink() {
  const ids = new Set<string>()
  const server = createServer((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', async () => {
      if (bytes > payload_bytes) {
        await pause(answer_after_ms)
        ids.add(String(request.headers['x-service-delivery']))
      }
      response.end()
    })
    request.on('error', () => {})
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    ids,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function updateOften({ call }: Service): Promise<void> {
  const start_at = '2027-01-04T09:00:00.000Z'
  const made = await call('POST', '/api/v1/appointments', {
    title: 'Long',
    start_at,
    end_at: '2027-01-04T10:00:00.000Z',
    notes: '長'.repeat(notes_length),
  })
  assert.equal(made.status, 201, made.text.slice(0, 500))
  for (let n = 0; n < updates; n++) {
    const notes = (n % 2 ? '長' : '文').repeat(notes_length)
    const reply = await call('PUT', `/api/v1/appointments/${made.body.data.id}`, { notes })
    assert.equal(reply.status, 200, reply.text.slice(0, 500))
  }
}

for (const megabytes of [256, 512])
  test(`60 webhooks and 20 updates of 0.4 MB are all delivered within ${megabytes} MB of memory`, async (t) => {
    const sink = await startSink()
    const memory = smallMemory(megabytes)
    const data_dir = scratchFolder(t)
    const { within, env } = memory
    const service = await startService(data_dir, { within, env })
    t.after(async () => {
      await service.end('SIGKILL')
      sink.close()
      memory.remove()
    })
    let ended: unknown = null
    void service.exited.then((how) => {
      ended = how
    })
    const { call } = service
    const events = ['company.created', 'appointment.updated']
    for (let n = 0; n < webhooks; n++) await register(call, { url: sink.url, events })
    for (let n = 0; n < warm_up; n++) await company(call)
    const left = async () => {
      assert.equal(ended, null, `the service ended: ${service.complaints()}`)
      return total(call, 'status=pending')
    }
    await until(left, 0)
    await updateOften(service)
    await until(left, 0, 150_000)
    assert.equal(await total(call, 'status=succeeded'), webhooks * (warm_up + updates))
    assert.equal(sink.ids.size, webhooks * updates)
    const most = memory.most_megabytes()
    report({
      fault: 30,
      figures: `${webhooks * updates} of 0.4 MB in ${megabytes} MB (${memory.by}), at most ${most} MB`,
    })
    t.diagnostic(`${memory.by}: at most ${most} MB`)
  })
