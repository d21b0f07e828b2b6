import type { History, Json, Rule } from './history.ts'

/** A way to falsify a history, and the rule by which the checker must notice. */
type Doctoring = { what: string; rule: Rule; falsify: (history: History) => void }

const found = <T>(one: T | undefined | null): T => {
  if (one === undefined || one === null) throw new Error('The history has nothing to falsify here.')
  return one
}

const done = ({ status }: { status: number | null }) => status !== null && status < 300
const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-service-delivery']

/** The event of an acknowledged creation, with its mark. */
function creation(history: History) {
  for (const { what, mark, resource, ...operation } of history.operations) {
    if (what !== 'create' || resource !== 'companies' || !mark || !done(operation)) continue
    const event = history.reading.events.find(({ data }) => data.name === mark)
    if (event) return { event, mark, id: operation.data.id as number }
  }
  throw new Error('Nothing was created.')
}

function forget(history: History, event_id: string) {
  const { reading } = history
  reading.events = reading.events.filter(({ id }) => id !== event_id)
  history.followed = history.followed.filter((id) => id !== event_id)
  reading.deliveries = reading.deliveries.filter((one) => one.event_id !== event_id)
  history.receipts = history.receipts.filter(({ body }) => !body.includes(event_id))
}

const always = ({ reading }: History) =>
  found(reading.webhooks.find(({ url }: Json) => url.endsWith('/all'))).id as string

/** A delivery that failed once, was tried again, and is judged by the times of its attempts. */
function retried(history: History) {
  const resent = new Set(history.operations.filter(({ what }) => what === 'resend').map(({ id }) => id))
  for (const { id, attempts } of history.reading.deliveries) {
    const arrived = history.receipts.filter((receipt) => idOf(receipt) === id)
    const in_time = attempts.every(({ code }) => code !== 'interrupted' && code !== 'timeout')
    const plain = in_time && !resent.has(id)
    if (plain && arrived.length > 1 && arrived.length === attempts.length && arrived[0]?.status !== null)
      return arrived
  }
  throw new Error('No delivery was tried again.')
}

export const doctorings: Doctoring[] = [
  {
    what: 'an event of an acknowledged creation is nowhere',
    rule: 'lost',
    falsify: (history) => forget(history, creation(history).event.id),
  },
  {
    what: 'an event of an acknowledged deletion is nowhere',
    rule: 'events',
    falsify: (history) =>
      forget(history, found(history.reading.events.find(({ event }) => event.endsWith('.deleted'))).id),
  },
  {
    what: 'an event has no delivery for a webhook that asked for it',
    rule: 'lost',
    falsify(history) {
      const { reading } = history
      const hook = always(history)
      const gone = found(reading.deliveries.find(({ webhook_id }) => webhook_id === hook))
      reading.deliveries = reading.deliveries.filter((one) => one !== gone)
    },
  },
  {
    what: 'a delivery is called succeeded and never arrived',
    rule: 'lost',
    falsify(history) {
      const { id } = found(history.reading.deliveries.find(({ status }) => status === 'succeeded'))
      history.receipts = history.receipts.filter((receipt) => idOf(receipt) !== id)
    },
  },
  {
    what: 'an event arrives that the feed does not have',
    rule: 'phantom',
    falsify({ receipts }) {
      const receipt = found(receipts[0])
      receipts.push({ ...receipt, body: receipt.body.replace(/"id":"evt_\w+"/, '"id":"evt_made_up"') })
    },
  },
  {
    what: 'a change that was refused has its event',
    rule: 'phantom',
    falsify(history) {
      const { mark } = creation(history)
      for (const one of history.operations.filter((operation) => operation.mark === mark)) one.status = 422
    },
  },
  {
    what: 'an event comes from no request',
    rule: 'phantom',
    falsify(history) {
      const { mark } = creation(history)
      history.operations = history.operations.filter((operation) => operation.mark !== mark)
    },
  },
  {
    what: 'two events of one record have changed places',
    rule: 'chain',
    falsify({ reading }) {
      const moved = reading.events.filter(({ event }) => event === 'deal.stage_changed')
      const later = found(
        moved.find(({ data }, at) => moved.findIndex((one) => one.data.id === data.id) < at),
      )
      const earlier = found(moved.find(({ data }) => data.id === later.data.id))
      const [from, to] = [reading.events.indexOf(earlier), reading.events.indexOf(later)]
      reading.events[from] = later
      reading.events[to] = earlier
    },
  },
  {
    what: 'the feed tells the last change first',
    rule: 'order',
    falsify(history) {
      const { events } = history.reading
      const last = events.findLastIndex(({ event }) => event.endsWith('.created'))
      events.unshift(...events.splice(last, 1))
      history.followed = events.map(({ id }) => id)
    },
  },
  { what: 'a follower missed an event', rule: 'feed', falsify: ({ followed }) => void followed.splice(3, 1) },
  {
    what: 'a follower was told an event twice',
    rule: 'feed',
    falsify: ({ followed }) => void followed.splice(3, 0, found(followed[3])),
  },
  {
    what: 'a body changed on the way',
    rule: 'body',
    falsify({ receipts }) {
      const receipt = found(receipts.find(({ body }) => body.includes('"name":"')))
      receipt.body = receipt.body.replace('"name":"', '"name":"X')
    },
  },
  {
    what: 'a second attempt has other bytes',
    rule: 'body',
    falsify(history) {
      const second = found(retried(history)[1])
      second.body = `${second.body} `
    },
  },
  {
    what: 'a creation made two records',
    rule: 'twice',
    falsify(history) {
      const { event } = creation(history)
      const id = 999_999
      history.reading.events.push({ ...event, id: 'evt_twice', data: { ...event.data, id } })
      history.reading.records[`/companies/${id}`] = { ...event.data, id }
      history.reading.listed.companies.push(id)
    },
  },
  {
    what: 'one key was answered with two records',
    rule: 'twice',
    falsify(history) {
      const { mark } = creation(history)
      const one = found(history.operations.find((operation) => operation.mark === mark && done(operation)))
      history.operations.push({ ...one, idempotency_key: mark, data: { ...one.data, id: one.data.id + 1 } })
      one.idempotency_key = mark
    },
  },
  {
    what: 'a signature is of another secret',
    rule: 'signature',
    falsify({ receipts }) {
      const { headers } = found(receipts[0])
      headers['x-service-signature'] = `sha256=${'0'.repeat(64)}`
    },
  },
  {
    what: 'a retry came at once',
    rule: 'early',
    falsify(history) {
      const [first, second] = retried(history)
      found(second).at_ms = found(first).ended_ms + 10
    },
  },
  {
    what: 'a delivery was attempted twice at once',
    rule: 'overlap',
    falsify(history) {
      const [first, second] = retried(history)
      found(first).ended_ms = found(second).at_ms + 1
    },
  },
  {
    what: 'a delivery with a time-out was attempted twice at once in another attempt',
    rule: 'overlap',
    falsify(history) {
      const [first, second] = retried(history)
      const delivery_id = found(first).headers['x-service-delivery']
      const log = history.reading.deliveries.find(({ id }) => id === delivery_id)
      found(log?.attempts.at(-1)).code = 'timeout'
      found(first).ended_ms = found(second).at_ms + 1
    },
  },
  {
    what: 'a previous value is not the one of before',
    rule: 'chain',
    falsify({ reading }) {
      const changed = reading.events.filter(({ event }) => event === 'company.updated')
      const later = changed.find(({ data, changed_fields }, at) => {
        const before = changed.findIndex(
          (one) => one.data.id === data.id && one.changed_fields?.includes('industry'),
        )
        return before >= 0 && before < at && changed_fields?.includes('industry')
      })
      found(later).previous.industry = 'another'
    },
  },
  {
    what: 'a total is one too many',
    rule: 'total',
    falsify({ reading }) {
      found(reading.totals[0]).total++
    },
  },
  {
    what: 'an acknowledged record is gone',
    rule: 'events',
    falsify({ reading }) {
      const [path] = found(
        Object.entries(reading.records).find(([path, record]) => path.startsWith('/appointments/') && record),
      )
      reading.records[path] = null
      reading.listed.appointments = reading.listed.appointments.filter((id) => path !== `/appointments/${id}`)
    },
  },
  {
    what: 'an acknowledged note is gone',
    rule: 'record',
    falsify({ reading }) {
      const [id] = found(
        Object.entries(reading.notes).find(
          ([id, notes]) => notes.length && reading.records[`/contacts/${id}`],
        ),
      )
      reading.notes[Number(id)] = []
    },
  },
  {
    what: 'a fault was not announced',
    rule: 'answer',
    falsify({ operations }) {
      Object.assign(found(operations.at(-1)), { status: 500, retry_after: false })
    },
  },
  {
    what: 'a delivery is pending when everything is over',
    rule: 'delivery',
    falsify({ reading }) {
      found(reading.deliveries[0]).status = 'pending'
    },
  },
]
