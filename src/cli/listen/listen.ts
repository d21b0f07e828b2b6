import { trusted } from '../../http/authorities.ts'
import { version } from '../../version.ts'
import { createSender } from '../../webhooks/delivery/deliver.ts'
import { checkUrl, type TargetPolicy } from '../../webhooks/registration/target.ts'
import { type Api, ApiFailure, addressOf, apiOf } from '../api.ts'
import { type Command, type Given, UsageError } from '../command.ts'
import { onStopSignal } from '../signals.ts'
import { forward, type Target } from './forward.ts'
import { openState, type State, stateFile } from './state.ts'
import { followEvents } from './stream.ts'
import { takeWebhook } from './webhook.ts'

export const listen: Command = {
  options: {
    forward: { value: 'URL', about: 'Where to post the events', required: true },
    events: { value: 'LIST', about: 'Such as deal.won,contact.*; default: all, or those of the webhook' },
    webhook: { value: 'NAME', about: 'Take the secret and the events of this webhook, by name or id' },
    state: {
      value: 'FILE',
      about: 'Keeps position and secret; default: a file for this service, key and URL',
    },
  },
  notes: [
    'The service is at RAPPORT_URL (http://127.0.0.1:3000), with RAPPORT_API_KEY. The key needs events:read.',
    'The first start begins at the present end of the feed, later ones where the last one ended. Ctrl-C stops it.',
    '--webhook reads the secret from the database, or takes it from RAPPORT_WEBHOOK_SECRET. It needs webhooks:read.',
  ],
  async run(given) {
    const { io, options } = given
    const url = await targetUrl(options.forward ?? '')
    const api = apiOf(io)
    const service = addressOf(io)
    const wanted = await wantedEvents(options.events)
    const parts = [service.url, service.key, url, options.webhook ?? '']
    const state = openState(options.state ?? stateFile(io.env, parts))
    const webhook = await webhookOf(api, given)
    const { id: webhook_id, secrets } = webhook ?? { id: 'wh_listen', secrets: [state.secret] }
    const target: Target = { url, webhook_id, secrets, id_secret: state.secret }
    const events = wanted ?? webhook?.events ?? ['*']
    const greeting = greetingOf(service.url, target, events, state, webhook !== null)
    await followUntilStopped(given, { api, state, target, events, greeting })
    return 0
  },
}

// It runs on the machine of a developer, so it may reach any address but those of cloud metadata.
const policy: TargetPolicy = { allowed_networks: [], allow_private: true }

async function targetUrl(text: string): Promise<string> {
  const checked = await checkUrl(text, policy)
  if ('url' in checked) return checked.url
  throw new UsageError(checked.message.replace(/^url/, '--forward'))
}

/** The events of --events, each a name, a group such as `deal.*`, or `*`; null without the option. */
async function wantedEvents(list: string | undefined): Promise<string[] | null> {
  if (list === undefined) return null
  const { resources } = await import('../../resources/index.ts')
  const names = resources.flatMap(({ events }) => events.map(({ name }) => name))
  const known = ['*', ...new Set(names.map((name) => name.replace(/\..*/, '.*'))), ...names]
  const wanted = list.split(',').map((name) => name.trim())
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown === undefined) return wanted
  throw new UsageError(`There is no event "${unknown}". The events are: ${known.join(', ')}.`)
}

const webhookOf = async (api: Api, { options, config, io }: Given) =>
  options.webhook === undefined
    ? null
    : takeWebhook(api, options.webhook, io.env.RAPPORT_WEBHOOK_SECRET, config)

const greetingOf = (from: string, target: Target, events: string[], state: State, is_webhook: boolean) => [
  `Forwarding ${events.join(', ')} from ${from} to ${target.url}`,
  is_webhook
    ? `Signed with the secret of webhook ${target.webhook_id}`
    : `Signing secret: ${target.secrets[0]}`,
  `Position and secret are kept in ${state.file}`,
]

type Listener = {
  api: Api
  state: State
  target: Target
  events: readonly string[]
  greeting: readonly string[]
}

async function followUntilStopped({ config, io }: Given, listener: Listener) {
  const { api, state, target, events, greeting } = listener
  const stopping = new AbortController()
  const { signal } = stopping
  // The attempt in flight ends first.
  const endSignals = onStopSignal(() => stopping.abort())
  const { webhook_timeout_ms: timeout_ms, webhook_ca_file } = config()
  const sender = createSender({
    policy,
    timeout_ms,
    version,
    secureContext: trusted('WEBHOOK_CA_FILE', webhook_ca_file),
  })
  const isWanted = (name: string) => events.some((one) => one === '*' || one === name || isGroup(one, name))
  const forwarder = { sender, target, signal, print: io.out }
  const frames = followEvents(api, {
    cursor: () => state.cursor,
    signal,
    onTrouble: (message) => io.err(`rapport: ${message} Trying again.`),
  })
  let greeted = false
  try {
    for await (const { cursor, event } of frames) {
      const is_sent = event !== undefined && isWanted(event.name)
      if (is_sent && !(await forward(forwarder, event))) break
      state.reach(cursor, is_sent || event === undefined)
      // Only now is the position kept: an event that somebody causes after these lines is sent.
      if (!greeted) io.out(...greeting)
      greeted = true
    }
  } catch (error) {
    throw error instanceof ApiFailure && error.status === 422 ? unknownPosition(state.file) : error
  } finally {
    endSignals()
    state.close()
    await sender.close()
  }
}

const unknownPosition = (file: string) =>
  new Error(
    `The service does not have the position in ${file}: its database is another one, or was restored. Delete the file to start at the present end of the feed.`,
  )

const isGroup = (pattern: string, name: string) =>
  pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1))
