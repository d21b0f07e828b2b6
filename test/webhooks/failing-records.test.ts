import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../harness.ts'
import { type Answer, type Received, useReceiver } from '../receiver.ts'
import { act, type Call, company, register, useWorkspaces } from '../webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()
const call = useWorkspaces(rapport, receiver)

const backlog = 400
// The slots of a new webhook, and those for its newest delivery.
const most_before = 4 + 4

const isBad = ({ body }: Received) => body.includes('"name":"Bad')
const isGood = ({ body }: Received) => body.includes('"name":"Good')
const failing = (received: readonly Received[]) => received.filter(isBad).length

/** Answers records that fail by `refuse`, and others with 200. */
const byRecord = (refuse: () => Answer) => (request: Received) => (isBad(request) ? refuse() : {})

/** Companies whose events the receiver refuses. */
async function failingRecords(one: Call, count = backlog): Promise<void> {
  const items = Array.from({ length: count }, (_, n) => ({ op: 'create', data: { name: `Bad ${n}` } }))
  const reply = await one('POST', '/api/v1/companies/batch', { items })
  assert.equal(reply.status, 200, reply.text)
}

/** Queues events of failing records, then one of a good record, while the webhook is paused. */
async function behindFailing(one: Call, webhook_id: string, count = backlog): Promise<void> {
  await act(one, webhook_id, 'pause')
  await failingRecords(one, count)
  await company(one, 'Good')
}

/** Releases its answers when the good record has arrived, or at the end of the test. */
function heldAnswers() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { answer: byRecord(() => ({ status: 500, after: promise })), release: resolve }
}

for (const ordered of [false, true])
  for (const kind of ['of many records', 'of one record'] as const)
    test(`an event does not wait for ${backlog} ${kind} that the receiver does not answer${ordered ? ', in order' : ''}`, async (t) => {
      const { answer, release } = heldAnswers()
      t.after(() => release())
      receiver.answering = answer
      const { id } = await register(call, { url: receiver.url, events: ['company.*'], ordered })
      if (kind === 'of many records') await behindFailing(call, id)
      else {
        await act(call, id, 'pause')
        const bad = await company(call, 'Bad')
        const items = Array.from({ length: backlog }, (_, n) => ({
          op: 'update',
          id: bad.id,
          data: { phone: `${n}` },
        }))
        const reply = await call('POST', '/api/v1/companies/batch', { items })
        assert.equal(reply.status, 200, reply.text)
        await company(call, 'Good')
      }
      await act(call, id, 'resume')
      const received = await receiver.waitFor((all) => all.some(isGood))
      assert.ok(failing(received) <= most_before, `${failing(received)} of failing records came before`)
      await act(call, id, 'pause')
    })

test('an event does not wait for failing retries that come due at once', async (t) => {
  const { answer, release } = heldAnswers()
  t.after(() => release())
  receiver.answering = byRecord(() => ({ status: 500 }))
  const { id } = await register(call, { url: receiver.url, retry_delays: [1, 600] })
  await failingRecords(call)
  await receiver.waitFor((all) => failing(all) === backlog)
  receiver.answering = answer
  await receiver.waitFor((all) => failing(all) >= backlog + 4)
  const before = receiver.received.length
  await company(call, 'Good')
  const received = await receiver.waitFor((all) => all.some(isGood))
  assert.ok(failing(received.slice(before)) <= most_before)
  await act(call, id, 'pause')
})

test('with max_per_second, an event behind failing ones is among the first that are sent', async () => {
  receiver.answering = byRecord(() => ({ status: 500 }))
  const { id } = await register(call, { url: receiver.url, max_per_second: 2 })
  await behindFailing(call, id, 40)
  await act(call, id, 'resume')
  const received = await receiver.waitFor((all) => all.some(isGood))
  assert.ok(failing(received) <= most_before, `${failing(received)} came before`)
  await act(call, id, 'pause')
})

test('the oldest events of failing records are sent beside the newest', async (t) => {
  const { answer, release } = heldAnswers()
  t.after(() => release())
  receiver.answering = answer
  const { id } = await register(call, { url: receiver.url })
  await behindFailing(call, id)
  await act(call, id, 'resume')
  await receiver.waitFor((all) => all.some(isGood))
  release()
  await receiver.waitFor((all) => failing(all) === backlog)
  const names = receiver.received.filter(isBad).map(({ body }) => Number(/"Bad (\d+)"/.exec(body)?.[1]))
  const median = names.slice(0, backlog / 2).filter((n) => n < backlog / 2).length
  assert.ok(median > backlog / 4, `${median} of the first half are of the older half`)
})
