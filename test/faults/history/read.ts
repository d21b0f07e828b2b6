import type { client } from '../../harness.ts'
import { type Delivery, type Json, type Operation, type Reading, resources, type Total } from './history.ts'

type Call = ReturnType<typeof client>

const read = async (call: Call, path: string): Promise<Json> => {
  const reply = await call('GET', `/api/v1${path}`)
  if (reply.status === 404) return { data: null }
  if (reply.status !== 200) throw new Error(`GET ${path} is ${reply.text}`)
  return reply.body
}

/** Reads everything that the history is judged by, through the API alone. */
export async function readAll(call: Call, operations: Operation[]): Promise<Reading> {
  const listed = {} as Reading['listed']
  const totals: Total[] = []
  for (const resource of resources) {
    const found = await readList(call, `/${resource}`)
    listed[resource] = found.data.map(({ id }: Json) => id)
    totals.push({ query: `/${resource}`, total: found.total, counted: found.data.length })
  }
  const { totals: more, deliveries } = await readDeliveries(call)
  const asked = new Set(
    operations.filter(isOfRecord).map(({ resource, id, data }) => `/${resource}/${data?.id ?? id}`),
  )
  for (const resource of resources) for (const id of listed[resource]) asked.add(`/${resource}/${id}`)
  const records: Reading['records'] = {}
  await inTurns([...asked], async (path) => {
    records[path] = (await read(call, path)).data
  })
  const notes: Reading['notes'] = {}
  const noted = operations.filter(({ resource }) => resource === 'notes').map(({ id }) => Number(id))
  await inTurns([...new Set(noted)], async (id) => {
    notes[id] = (await read(call, `/contacts/${id}/notes`)).data ?? []
  })
  return {
    events: await readFeed(call),
    records,
    listed,
    notes,
    deliveries,
    webhooks: (await readList(call, '/webhooks')).data,
    totals: [...totals, ...(await readDealTotals(call)), ...more],
  }
}

const isOfRecord = ({ resource, id, data }: Operation) =>
  (resources as readonly string[]).includes(resource) && (id !== null || data?.id !== undefined)

// A few at once: it is a service after all.
async function inTurns<T>(all: T[], work: (one: T) => Promise<void>) {
  const left = [...all]
  const worker = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

async function readList(call: Call, path: string): Promise<{ data: Json[]; total: number }> {
  const data: Json[] = []
  for (let page = 1; ; page++) {
    const { data: some, meta } = await read(
      call,
      `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`,
    )
    data.push(...some)
    if (page >= meta.last_page) return { data, total: meta.total }
  }
}

async function readFeed(call: Call): Promise<Reading['events']> {
  const events: Reading['events'] = []
  for (let cursor = '0'; ; ) {
    const { data, meta } = await read(call, `/events?per_page=100&cursor=${cursor}`)
    events.push(...data)
    if (!meta.has_more) return events
    cursor = meta.next_cursor
  }
}

async function readDealTotals(call: Call): Promise<Total[]> {
  const all = (await readList(call, '/deals')).data
  const totals: Total[] = []
  for (const field of ['stage', 'status'])
    for (const value of new Set(all.map((deal) => deal[field]))) {
      const { total } = (await read(call, `/deals?${field}=${value}&per_page=1`)).meta
      const counted = all.filter((deal) => deal[field] === value).length
      totals.push({ query: `/deals?${field}=${value}`, total, counted })
    }
  return totals
}

async function readDeliveries(call: Call): Promise<{ deliveries: Delivery[]; totals: Total[] }> {
  const { data, total } = await readList(call, '/deliveries')
  const totals = [{ query: '/deliveries', total, counted: data.length }]
  for (const field of ['status', 'webhook_id', 'event'])
    for (const value of new Set(data.map((one) => one[field]))) {
      const found = await read(call, `/deliveries?${field}=${value}&per_page=1`)
      const counted = data.filter((one) => one[field] === value).length
      totals.push({ query: `/deliveries?${field}=${value}`, total: found.meta.total, counted })
    }
  const deliveries: Delivery[] = []
  await inTurns(data, async ({ id }) => {
    const { data: one } = await read(call, `/deliveries/${id}`)
    const attempts = one.attempts.map(({ number, started_at, duration_ms, error }: Json) => ({
      number,
      started_at,
      duration_ms,
      code: error?.code ?? null,
    }))
    const { webhook_id, event_id, event, status, attempt_count } = one
    deliveries.push({ id, webhook_id, event_id, event, status, attempt_count, attempts })
  })
  return { deliveries, totals }
}
