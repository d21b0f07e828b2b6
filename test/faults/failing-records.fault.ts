import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scratchFolder } from '../process.ts'
import { type Answer, type Receiver, startReceiver } from '../receiver.ts'
import { act, type Call, company, register } from '../webhooks.ts'
import { limitBeside, startIdle, tellNoise, waitsDuring } from './idle.ts'
import { report } from './report.ts'
import { startService } from './service.ts'

const backlog = 400

const answers: Record<string, Answer> = {
  '500 at once': { status: 500 },
  '500 after 300 ms': { status: 500, delay_ms: 300 },
  'no answer': 'hang',
}

/** How long an event of a good record takes while a backlog of failing ones is sent. */
async function measure(call: Call, receiver: Receiver, ordered: boolean, answer: Answer): Promise<number> {
  receiver.received.length = 0
  receiver.answering = ({ body }) => (body.includes('"name":"Bad') ? answer : {})
  const { id } = await register(call, { url: receiver.url, ordered })
  await act(call, id, 'pause')
  const items = Array.from({ length: backlog }, (_, n) => ({ op: 'create', data: { name: `Bad ${n}` } }))
  assert.equal((await call('POST', '/api/v1/companies/batch', { items })).status, 200)
  await act(call, id, 'resume')
  await receiver.waitFor(4)
  const start = Date.now()
  await company(call, 'Good')
  const isGood = ({ body }: { body: string }) => body.includes('"name":"Good')
  const received = await receiver.waitFor((all) => all.some(isGood))
  const wait = (received.find(isGood)?.at_ms ?? Number.POSITIVE_INFINITY) - start
  await call('DELETE', `/api/v1/webhooks/${id}`)
  receiver.drop()
  return wait
}

test('behind 400 events of failing records, an event of another one arrives within two seconds, at any speed of the answers', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const service = await startService(scratchFolder(t))
  t.after(() => service.end('SIGKILL'))
  const waits: [string, number][] = []
  const { noise } = await waitsDuring(service.url, await startIdle(t), async () => {
    for (const [name, answer] of Object.entries(answers))
      for (const ordered of [false, true]) {
        const wait = await measure(service.call, receiver, ordered, answer)
        waits.push([ordered ? `${name}, ordered` : name, wait])
      }
  })
  const told = waits.map(([name, wait]) => `${name}: ${wait} ms`).join('; ')
  const figures = `behind ${backlog} that fail: ${told}; ${tellNoise(noise)}`
  t.diagnostic(figures)
  report({ fault: 51, figures, events: waits.length, lost: 0 })
  const slowest = Math.max(...waits.map(([, wait]) => wait))
  assert.ok(slowest < limitBeside(2000, noise), figures)
})
