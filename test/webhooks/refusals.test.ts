import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../harness.ts'
import { useReceiver } from '../receiver.ts'
import { company, delivery, onlyDelivery, register, until, webhook } from '../webhooks.ts'

const delay_ms = 300
const receiver = useReceiver()
const rapport = useRapport({ env: { WEBHOOK_RETRY_DELAYS: `${delay_ms / 1000}` } })

test('410, and 429 or 503 with Retry-After, are failures like all others: only the schedule decides the time of the retry', async () => {
  const { call } = rapport
  for (const [status, retry_after] of [
    [410, undefined],
    [429, '600'],
    [503, '600'],
    [429, '0'],
    [503, 'Fri, 31 Dec 1999 23:59:59 GMT'],
  ] as const) {
    receiver.received.length = 0
    receiver.answering = (_request, number) =>
      number === 1 ? { status, ...(retry_after && { headers: { 'retry-after': retry_after } }) } : {}
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    const { attempts } = await until(() => delivery(call, id), { status: 'succeeded' })
    const [first, second] = attempts
    assert.equal(first?.error?.code, 'http_error')
    const waited_ms =
      Date.parse(String(second?.started_at)) -
      Date.parse(String(first?.started_at)) -
      Number(first?.duration_ms)
    assert.ok(waited_ms >= delay_ms - 1, `${status}: ${waited_ms} ms`)
    assert.ok(waited_ms < 60_000, `${status}: ${waited_ms} ms`)
    // 410 is only the answer to this request: the webhook stays active.
    assert.equal((await webhook(call, hook.id)).status, 'active')
    await call('DELETE', `/api/v1/webhooks/${hook.id}`)
  }
})
