import { type Rapport, RapportError, verifyWebhook, WebhookError } from '../../../client/src/index.ts'
import { events } from '../generated/described.ts'
import { clientOf } from './fetch.ts'
import { parsed } from './json.ts'
import type { HookContext, Item, Json, NodeDescription, WebhookContext } from './sdk.ts'

type Registered = { webhook_id?: string; secret?: string; url?: string; settings?: string }

/** The trigger: a webhook of Rapport that starts the workflow with each event. */
export class RapportTrigger {
  description: NodeDescription = {
    displayName: 'Rapport Trigger',
    name: 'rapportTrigger',
    icon: 'file:rapport.svg',
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow when something changes in the Rapport CRM',
    defaults: { name: 'Rapport Trigger' },
    inputs: [],
    outputs: ['main'],
    credentials: [{ name: 'rapportApi', required: true }],
    webhooks: [
      { name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'rapport', rawBody: true },
    ],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        options: events.map((value) => ({ name: value, value })),
        default: [],
        required: true,
        description: 'deal.* stands for all events of deals, * for all events',
      },
      {
        displayName: 'Options',
        name: 'options',
        type: 'collection',
        placeholder: 'Add Option',
        default: {},
        options: [
          {
            displayName: 'Conditions',
            name: 'conditions',
            type: 'json',
            default: '[{"field": "data.value", "op": "gte", "value": 10000}]',
            description: 'All must hold, or the workflow does not start',
          },
          {
            displayName: 'Headers',
            name: 'headers',
            type: 'json',
            default: '{"Authorization": "Bearer 4f9c1e"}',
            description: 'Sent with every request, such as for a proxy in front of n8n',
          },
          {
            displayName: 'Ordered',
            name: 'ordered',
            type: 'boolean',
            default: false,
            description: 'Whether the events of a record arrive one after the other, in their order',
          },
          {
            displayName: 'Max per Second',
            name: 'max_per_second',
            type: 'number',
            default: 10,
            typeOptions: { minValue: 1, maxValue: 1000 },
            description: 'At most this many events start the workflow in any second',
          },
        ],
      },
    ],
  }

  webhookMethods = { default: { checkExists, create, delete: remove } }

  async webhook(this: WebhookContext) {
    const { secret } = this.getWorkflowStaticData('node') as Registered
    const { rawBody } = this.getRequestObject()
    try {
      if (!secret || !rawBody)
        throw new WebhookError('invalid_signature', 'The workflow has no secret. Activate it again.')
      const event = await verifyWebhook(this.getHeaderData(), new Uint8Array(rawBody), secret)
      return { workflowData: [[{ json: event as unknown as Json }]] as Item[][] }
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error
      // Rapport shows the answer in its delivery log.
      this.getResponseObject().status(401).json({ code: error.code, message: error.message })
      return { noWebhookResponse: true }
    }
  }
}

/** The webhook as the form of the node describes it. */
function settingsOf(context: HookContext) {
  const { conditions, headers, ordered, max_per_second } = context.getNodeParameter('options', {}) as Json
  return {
    events: context.getNodeParameter('events') as string[],
    conditions: parsed('conditions', conditions || null),
    headers: parsed('headers', headers || null),
    ordered: ordered ?? false,
    max_per_second: max_per_second ?? null,
  }
}

function urlOf(context: HookContext): string {
  const url = context.getNodeWebhookUrl('default')
  if (!url) throw new Error('n8n gave the node no address for its webhook.')
  return url
}

/** Whether the webhook of this node is there, active, and as the form says. */
async function checkExists(this: HookContext): Promise<boolean> {
  const known = this.getWorkflowStaticData('node') as Registered
  if (!known.webhook_id || !known.secret) return false
  if (known.url !== urlOf(this) || known.settings !== JSON.stringify(settingsOf(this))) return false
  const client = await clientOf(this)
  return client.webhooks.get(known.webhook_id).then(({ status }) => status === 'active', missing)
}

async function create(this: HookContext): Promise<boolean> {
  const client = await clientOf(this)
  const [url, settings] = [urlOf(this), settingsOf(this)]
  await removeAt(client, url)
  const { id, name } = this.getWorkflow()
  const body = { name: `n8n: ${name ?? id ?? this.getNode().name}`.slice(0, 255), url, ...settings }
  const made = await client.webhooks.create(body as Parameters<Rapport['webhooks']['create']>[0])
  const known = { webhook_id: made.id, secret: made.secret, url, settings: JSON.stringify(settings) }
  Object.assign(this.getWorkflowStaticData('node'), known)
  return true
}

/** Removes webhooks that an earlier activation left at this address, which belongs to this node alone. */
async function removeAt(client: Rapport, url: string): Promise<void> {
  const stale: string[] = []
  for await (const webhook of client.webhooks.each()) if (webhook.url === url) stale.push(webhook.id)
  for (const id of stale) await client.webhooks.delete(id).catch(missing)
}

async function remove(this: HookContext): Promise<boolean> {
  const known = this.getWorkflowStaticData('node') as Registered
  if (known.webhook_id) await (await clientOf(this)).webhooks.delete(known.webhook_id).catch(missing)
  for (const name of ['webhook_id', 'secret', 'url', 'settings'] as const) delete known[name]
  return true
}

/** A webhook that is gone was removed in Rapport. */
function missing(error: unknown): false {
  if (error instanceof RapportError && error.status === 404) return false
  throw error
}
