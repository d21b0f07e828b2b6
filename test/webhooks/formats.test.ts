import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { useReceiver } from '../receiver.ts'
import { act, attempted, company, onlyDelivery, register, webhook } from '../webhooks.ts'

const clock = turnableClock(Date.now())
const env = { PUBLIC_URL: 'https://crm.example', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32' }
const receiver = useReceiver()
const rapport = useRapport({ clock, env })

test('a message is signed, the same bytes in each attempt, and in the log, also after the format changed', async () => {
  const call = await newWorkspace(rapport)
  receiver.answering = (_, number) => ({ status: number === 1 ? 500 : 200 })
  const { id, secret } = await register(call, { url: receiver.url, format: 'slack' })
  assert.equal((await webhook(call, id)).format, 'slack')
  const { id: company_id, name } = await company(call, 'Acme <!here> & Co')
  const delivery = await onlyDelivery(call, id)
  await attempted(call, delivery.id)
  await call('PUT', `/api/v1/webhooks/${id}`, { format: 'teams' })
  clock.advance(60_000)
  rapport.wake()
  const { attempts } = await attempted(call, delivery.id, 2)
  const [first, second] = await receiver.waitFor(2)
  assert.equal(second?.body, first?.body)
  await receiver.verify(secret)
  for (const { request } of attempts) assert.equal(request.body, first?.body)
  const { text, blocks } = JSON.parse(String(first?.body))
  assert.match(text, /^Company Acme &lt;!here&gt; &amp; Co was created by /)
  const url = `https://crm.example/companies/${company_id}`
  assert.deepEqual(blocks[0].elements[0].elements[1], { type: 'link', url, text: name })
  assert.equal(first?.headers['content-type'], 'application/json')
  const ping = await act(call, id, 'test')
  const [{ body }] = ping.attempts.map(({ request }: { request: { body: string } }) => request)
  assert.equal(JSON.parse(body).attachments[0].content.type, 'AdaptiveCard')
  assert.equal(receiver.received.at(-1)?.body, body)
})

test('envelope is the default, and another format is 422', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await register(call, { url: receiver.url })
  const put = (format: unknown) => call('PUT', `/api/v1/webhooks/${id}`, { format })
  assert.deepEqual(
    [(await put('slack')).body.data.format, (await put(null)).body.data.format],
    ['slack', 'envelope'],
  )
  assert.equal((await put('discord')).body.error.fields[0].code, 'unknown_value')
})
