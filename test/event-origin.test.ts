import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeRequest } from './booking.ts'
import { useRapport } from './harness.ts'
import { ended, upload } from './imports.ts'
import { setUp } from './people.ts'
import { useReceiver } from './receiver.ts'
import { act, register, until } from './webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()

type Payload = Record<string, unknown> & {
  actor: { kind: string; name: string | null }
  data: Record<string, unknown>
}

/** The newest event of a name. */
async function newest(event: string): Promise<Payload> {
  const { body } = await rapport.call('GET', `/api/v1/events?sort=-timestamp&per_page=1&event=${event}`)
  return body.data[0]
}

const ana = { first_name: 'Ana', last_name: 'Ruiz' }

test('an event tells who made the change, and by which way', async () => {
  const { call } = rapport
  const seen: unknown[] = []
  const note = async (event: string) => {
    const { actor, source, api_version } = await newest(event)
    assert.equal(api_version, '2026-12-01')
    seen.push([actor.kind, actor.name, source])
  }
  const { body: made } = await call('POST', '/api/v1/contacts', ana)
  await note('contact.created')
  const person = await setUp(rapport)
  await person('POST', '/contacts', ana)
  await note('contact.created')
  await makeRequest(rapport)
  await note('contact.created')
  const { body: started } = await upload(rapport, '?resource=contacts', 'First name,Last name\nBo,Li\n')
  await ended(rapport, started.data.id)
  await note('contact.created')
  await call('POST', `/api/v1/imports/${started.data.id}/undo`)
  await until(
    () => newest('contact.deleted'),
    (event) => event?.data.first_name === 'Bo',
  )
  seen.push([(await newest('contact.deleted')).source])
  const { body: other } = await call('POST', '/api/v1/contacts', ana)
  await call('POST', `/api/v1/contacts/${made.data.id}/merge`, { from_ids: [other.data.id] })
  await note('contact.updated')
  assert.deepEqual(seen, [
    ['key', 'First key', 'api'],
    ['person', 'Ada Lovelace', 'app'],
    ['visitor', null, 'booking'],
    ['key', 'First key', 'import'],
    ['import'],
    ['key', 'First key', 'merge'],
  ])
})

test('feed and deliveries tell the same sequence, which grows; a ping tells none, and no origin', async () => {
  const { call } = rapport
  const hook = await register(call, { url: receiver.url, events: ['company.created'] })
  await act(call, hook.id, 'test')
  for (let n = 0; n < 20; n++) await call('POST', '/api/v1/companies', { name: `No ${n}` })
  const [ping, ...delivered] = (await receiver.waitFor(21)).map(({ body }) => JSON.parse(body))
  assert.deepEqual(Object.keys(ping), ['id', 'event', 'timestamp', 'webhook_id', 'data'])
  const { body } = await call('GET', '/api/v1/events?event=company.created')
  const feed = body.data as { id: string; sequence: number }[]
  const numbers = feed.map(({ sequence }) => sequence)
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  )
  const sequences = (events: typeof feed) => new Map(events.map(({ id, sequence }) => [id, sequence]))
  const sent = new Map([...sequences(delivered)].sort(([, a], [, b]) => a - b))
  assert.deepEqual(sent, sequences(feed))
})
