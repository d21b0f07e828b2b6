// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from '../../test/harness.ts'
import { type Answer, type Received, startReceiver } from '../../test/receiver.ts'
import { until } from '../../test/webhooks.ts'
import { credentialsOf, request, useNodes } from './host.ts'
import type { Item, Json } from './src/sdk.ts'

const service = useRapport()
const nodes = useNodes()

type Static = { webhook_id?: string; secret?: string }
const remembered: Static = {}
const url_of_hook: { value?: string } = {}

const hookContext = (fields: object, statics: Json = remembered as Json) => ({
  getCredentials: async () => credentialsOf(service),
  getNode: () => ({ id: 'c3d4', name: 'Rapport Trigger', type: 'n8n-nodes-rapport.rapportTrigger' }),
  helpers: { httpRequestWithAuthentication: request },
  getNodeParameter: (name: string, fallback?: unknown) =>
    (fields as Record<string, unknown>)[name] ?? fallback,
  getNodeWebhookUrl: () => url_of_hook.value,
  getWorkflowStaticData: () => statics,
  getWorkflow: () => ({ id: 'w1', name: 'Bill won deals' }),
})

/** Hands a request to the trigger, as the webhook server of n8n does. */
async function receive(
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  statics: Json = remembered as Json,
) {
  const answer: { status: number; started?: Item[] } = { status: 200 }
  const { workflowData } = (await new nodes.RapportTrigger().webhook.call({
    ...hookContext({}, statics),
    getHeaderData: () => headers,
    getRequestObject: () => ({ rawBody: Buffer.from(body) }),
    getResponseObject: () => ({
      status(code: number) {
        answer.status = code
        return { json() {} }
      },
    }),
  } as never)) as { workflowData?: Item[][] }
  if (workflowData?.[0]) answer.started = workflowData[0]
  return answer
}

test('the trigger registers its webhook, starts for the events that meet its conditions, and removes it', async () => {
  const started: Json[] = []
  const receiver = await startReceiver()
  receiver.answering = (sent): Answer => ({
    after: receive(sent).then(
      ({ started: items = [] }) => void started.push(...items.map(({ json }) => json)),
    ),
  })
  url_of_hook.value = `${receiver.url}/webhook/3f9c/rapport`
  const { checkExists, create, delete: remove } = new nodes.RapportTrigger().webhookMethods.default
  const form = {
    events: ['deal.*'],
    options: { conditions: '[{"field": "data.value", "op": "gte", "value": 1000}]' },
  }
  const registered = async () => (await service.call('GET', '/api/v1/webhooks')).body.data

  assert.equal(await checkExists.call(hookContext(form)), false)
  const broken = { ...form, options: { conditions: '[{"field": ' } }
  await assert.rejects(create.call(hookContext(broken)), /conditions is not valid JSON/)
  assert.equal(await create.call(hookContext(form)), true)
  assert.equal(await checkExists.call(hookContext(form)), true)
  assert.equal((await registered())[0].name, 'n8n: Bill won deals')
  // A changed form, or an activation that n8n forgot, leaves one webhook.
  assert.equal(await checkExists.call(hookContext({ ...form, events: ['deal.won'] })), false)
  assert.equal(await create.call(hookContext(form)), true)
  assert.equal((await registered()).length, 1)

  for (const value of [10, 5000])
    await service.call('POST', '/api/v1/deals', { name: `Worth ${value}`, value })
  await until(
    async () => started.length,
    (count) => count > 0,
  )
  assert.deepEqual(
    started.map((event) => [event.event, (event.data as Json).name]),
    [['deal.created', 'Worth 5000']],
  )

  assert.equal(await remove.call(hookContext(form)), true)
  assert.deepEqual(await registered(), [])
  assert.deepEqual(remembered, {})
  // Somebody has removed it in Rapport.
  assert.equal(await create.call(hookContext(form)), true)
  await service.call('DELETE', `/api/v1/webhooks/${remembered.webhook_id}`)
  assert.equal(await checkExists.call(hookContext(form)), false)
  assert.equal(await remove.call(hookContext(form)), true)
  await receiver.close()
})

test('the trigger starts nothing for a request without a valid signature, or an old one', async () => {
  const receiver = await startReceiver()
  url_of_hook.value = `${receiver.url}/webhook/5a1e/rapport`
  const { create, delete: remove } = new nodes.RapportTrigger().webhookMethods.default
  const form = {
    events: ['company.created'],
    options: { headers: '{"X-Proxy-Token": "4f9c1e"}' },
  }
  await create.call(hookContext(form))
  await service.call('POST', '/api/v1/companies', { name: 'Signed' })
  await until(
    async () => receiver.received.length,
    (count) => count > 0,
  )
  const sent = receiver.received[0] as Received
  assert.equal(sent.headers['x-proxy-token'], '4f9c1e')
  assert.equal((await receive(sent)).started?.length, 1)
  const refused = async (change: Partial<Received>, statics?: Json) => {
    const { status, started } = await receive({ ...sent, ...change }, statics)
    assert.deepEqual([status, started], [401, undefined])
  }
  await refused({ body: sent.body.replace('Signed', 'Forged') })
  await refused({ headers: { ...sent.headers, 'webhook-signature': 'v1,AAAA' } })
  await refused({ headers: { ...sent.headers, 'webhook-timestamp': '1700000000' } })
  await refused({ headers: { 'x-service-signature': sent.headers['x-service-signature'] as string } })
  await refused({ headers: {} })
  await refused({}, {})
  await remove.call(hookContext(form))
  await receiver.close()
})
