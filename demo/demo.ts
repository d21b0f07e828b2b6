import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogue } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { startServer } from '../src/server.ts'
import { type DemoData, readDemoData } from './data.ts'
import { type Received, startReceiver } from './receiver.ts'

type Options = {
  print?: (line: string) => void
  /** Settings beside those of the demo, such as another database. */
  env?: Record<string, string>
  /** Called for each delivery as it arrives. */
  onReceived?: (delivery: Received) => void
}

/**
 * Runs the service on a scratch folder, end to end. Registers a webhook for all events, loads records over HTTP, moves
 * deals through their stages, and adds activities and a booking. Verifies each delivery. Returns the exit code: 0 if no
 * delivery was lost and all signatures are valid.
 */
export async function runDemo({ print = console.log, env = {}, onReceived }: Options = {}): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-demo-'))
  const config = readConfig({
    PORT: '0',
    DATA_DIR: folder,
    RATE_LIMIT_PER_SECOND: '0',
    LOG_LEVEL: 'error',
    ...env,
  })
  const service = await startServer(config)
  const received = new Map<string, Received>()
  let secret = ''
  let bad = 0
  const receiver = await startReceiver(
    () => secret,
    (delivery) => {
      if (!delivery.signature_ok) bad++
      received.set(delivery.delivery_id, delivery)
      onReceived?.(delivery)
      print(
        `${delivery.event.padEnd(20)} ${delivery.delivery_id}  ${describe(delivery.body)}  signature ${delivery.signature_ok ? 'ok' : 'BAD'}`,
      )
    },
  )
  try {
    const api = createClient(service.url, service.first_key ?? '')
    const events = catalogue.map((event) => event.name)
    const webhook = await api('POST', '/webhooks', { name: 'Demo', url: receiver.url, events })
    secret = String(webhook.secret)
    print(`Rapport answers at ${service.url}; a receiver listens at ${receiver.url}.\n`)

    const expected = await work(api, readDemoData())
    await settled(() => received.size >= expected, 30_000)

    const lost = expected - received.size
    print(
      `\nrequests: ${api.requests()}   events: ${expected}   deliveries: ${received.size}   bad signatures: ${bad}   lost: ${lost}`,
    )
    return lost === 0 && bad === 0 ? 0 : 1
  } finally {
    await service.stop()
    receiver.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Item = Record<string, unknown> & { id: number }
type Api = ReturnType<typeof createClient>

function createClient(url: string, key: string) {
  let requests = 0
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    requests++
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    })
    const answer = (await response.json()) as { data: unknown }
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer.data
  }
  const call = (method: string, path: string, body?: object) => send(method, path, body) as Promise<Item>
  const list = (path: string) => send('GET', path) as Promise<Item[]>
  return Object.assign(call, { list, requests: () => requests })
}

/** A day of work over HTTP. Returns the number of events that the contract requires for it, as each of its steps does. */
async function work(api: Api, data: DemoData): Promise<number> {
  const ids = new Map<string, number>()
  let expected = await createPeople(api, data, ids)
  expected += await workOnDeals(api, data, ids)
  expected += await editRecords(api, [...ids.values()])
  expected += await workOnActivity(api)
  return expected + (await bookAppointments(api))
}

async function createPeople(api: Api, data: DemoData, ids: Map<string, number>): Promise<number> {
  for (const { key, body } of data.companies) ids.set(key, (await api('POST', '/companies', body)).id)
  for (const { key, company, body } of data.contacts) {
    const contact = await api('POST', '/contacts', { ...body, company_id: company ? ids.get(company) : null })
    ids.set(key, contact.id)
  }
  return data.companies.length + data.contacts.length
}

async function workOnDeals(api: Api, data: DemoData, ids: Map<string, number>): Promise<number> {
  let expected = 0
  for (const { company, contact, body, moves } of data.deals) {
    const links = {
      company_id: company ? ids.get(company) : null,
      contact_id: contact ? ids.get(contact) : null,
    }
    let deal = await api('POST', '/deals', { ...body, ...links })
    expected += closes(null, deal.stage) ? 2 : 1
    for (const move of moves) {
      const before = deal.stage
      deal = await api('POST', `/deals/${deal.id}/change-stage`, move)
      if (deal.stage !== before) expected += closes(before, deal.stage) ? 2 : 1
    }
  }

  return expected
}

async function editRecords(api: Api, [first = 0, second = 0]: number[]): Promise<number> {
  await api('PUT', `/companies/${first}`, { industry: 'Shipping' })
  await api('DELETE', `/companies/${second}`)
  await api('POST', `/companies/${second}/restore`)
  await api('PUT', '/contacts/1', { stage: 'customer', custom_fields: { met_at: 'trade fair' } })
  await api('POST', '/contacts/1/notes', { body: 'Wants the offer by Friday.' })
  await api('DELETE', '/contacts/2')
  await api('POST', '/contacts/2/restore')
  await api('PUT', '/deals/1', { priority: 'high' })
  await api('DELETE', '/deals/2')
  return 8
}

/** An activity is completed, reopened and completed again. */
async function workOnActivity(api: Api): Promise<number> {
  const links = { contact_id: 1, deal_id: 1 }
  const call = await api('POST', '/activities', { type: 'call', subject: 'Talk about the offer', ...links })
  await api('POST', `/activities/${call.id}/complete`, { outcome: 'Not in' })
  await api('POST', `/activities/${call.id}/reopen`)
  await api('POST', `/activities/${call.id}/complete`, { outcome: 'Sends the order on Friday' })
  return 3
}

/** An appointment of a booking page is moved and cancelled. Another appointment is deleted. */
async function bookAppointments(api: Api): Promise<number> {
  const page = await api('POST', '/booking-pages', {
    slug: 'demo',
    title: 'Product demo',
    time_zone: 'Europe/Berlin',
    duration_minutes: 30,
    minimum_notice_minutes: 0,
    availability: every_day,
  })
  const [first_slot, second_slot] = await api.list(`/booking-pages/${page.id}/slots`)
  const visit = { title: 'Product demo', type: 'demo', contact_id: 1, booking_page_id: page.id }
  const booked = await api('POST', '/appointments', { ...visit, ...first_slot })
  await api('PUT', `/appointments/${booked.id}`, { ...second_slot })
  await api('POST', `/appointments/${booked.id}/cancel`, { reason: 'Ill' })
  const lunch = { title: 'Lunch', start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
  await api('DELETE', `/appointments/${(await api('POST', '/appointments', lunch)).id}`)
  return 5
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const every_day = Object.fromEntries(weekdays.map((day) => [day, [{ from: '00:00', to: '24:00' }]]))

// Entering won or lost emits one more event.
const closes = (before: unknown, after: unknown) => before !== after && (after === 'won' || after === 'lost')

function describe(body: string): string {
  const { data } = JSON.parse(body)
  const name = data.name ?? data.subject ?? data.title ?? `${data.first_name} ${data.last_name}`
  return `#${data.id} ${name}${data.new_stage ? ` → ${data.new_stage}` : ''}`
}

async function settled(done: () => boolean, limit_ms: number): Promise<void> {
  const until = Date.now() + limit_ms
  while (!done() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
}
