import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Delivery, History, Receipt, StoredEvent, Violation } from '../history.ts'
import type { Deed } from './deeds.ts'
import type { Origins } from './records.ts'

// How far apart the clock of a client and the way of a request to a receiver may be.
const tolerance_ms = 2000

/** The states of a webhook, from its requests. */
export type Hook = {
  id: string
  path: string
  events: string[]
  registered: Deed
  deleted: Deed | null
  /** From which request on each secret signs. */
  secrets: { secret: string; deed: Deed; overlap: boolean }[]
}

export function hooksOf(deeds: Deed[]): Hook[] {
  const registrations = deeds.filter(({ what, outcome }) => what === 'register' && outcome === 'done')
  return registrations.map((registered) => {
    const { id } = registered.answers[0]
    const mine = deeds.filter((deed) => deed.id === id && deed.outcome !== 'refused')
    const rotated = mine.filter(({ what }) => what === 'rotate')
    return {
      id,
      path: new URL(registered.body.url).pathname,
      events: registered.body.events,
      registered,
      deleted: deeds.find((deed) => deed.id === id && deed.what === 'delete') ?? null,
      secrets: [registered, ...rotated].map((deed) => ({
        secret: deed.body.secret,
        deed,
        overlap: deed.body.overlap_hours > 0,
      })),
    }
  })
}

const deliveryOf = ({ headers }: Receipt) => String(headers['x-service-delivery'])

/** Each event has its one delivery for each webhook that asked for it, which ended as the log says. */
export function checkLog(history: History, hooks: Hook[], origins: Origins): Violation[] {
  const violations: Violation[] = []
  const { events, deliveries } = history.reading
  const logged = new Map<string, Delivery>()
  for (const one of deliveries) {
    const name = `${one.webhook_id} ${one.event_id}`
    if (logged.has(name))
      violations.push({ rule: 'twice', told: `two deliveries of ${one.event_id} for ${one.webhook_id}` })
    logged.set(name, one)
  }
  for (const event of events)
    for (const hook of hooks) {
      const found = logged.get(`${hook.id} ${event.id}`)
      logged.delete(`${hook.id} ${event.id}`)
      const wanted = wants(hook, event, origins.get(event.id))
      if (wanted === 'yes' && !found)
        violations.push({ rule: 'lost', told: `${event.event} ${event.id} has no delivery for ${hook.id}` })
      if (wanted === 'no' && found)
        violations.push({
          rule: 'phantom',
          told: `${found.id} is for a webhook that did not ask for ${event.event}`,
        })
      if (found && found.event !== event.event)
        violations.push({ rule: 'delivery', told: `${found.id} says ${found.event} of ${event.event}` })
    }
  for (const [name, { id, event }] of logged)
    if (event !== 'ping') violations.push({ rule: 'phantom', told: `${id} is of no event: ${name}` })
  const answered = new Set(history.receipts.filter(({ status }) => status === 200).map(deliveryOf))
  for (const { id, status } of deliveries) {
    if (status === 'succeeded' && !answered.has(id))
      violations.push({ rule: 'lost', told: `${id} succeeded, and no receiver has answered it` })
    if (status === 'pending')
      violations.push({ rule: 'delivery', told: `${id} is pending when everything is over` })
  }
  return violations
}

/** Whether a webhook must get an event, as far as the times of the requests show. */
function wants(hook: Hook, { event }: StoredEvent, deed: Deed | undefined): 'yes' | 'no' | 'maybe' {
  if (!hook.events.includes(event)) return 'no'
  const { registered, deleted } = hook
  const from = deed?.sent_ms ?? 0
  const to = deed?.answered_ms ?? Number.POSITIVE_INFINITY
  if (to < registered.sent_ms) return 'no'
  if (deleted && deleted.outcome === 'done' && from > deleted.answered_ms) return 'no'
  // The first webhooks are there before anything happens, and stay.
  const before =
    from >= registered.answered_ms ||
    (registered.answered_ms < Number.POSITIVE_INFINITY && hook.path.includes('/all'))
  return before && (!deleted || to < deleted.sent_ms) ? 'yes' : 'maybe'
}

/**
 * Each received attempt is in the log, its event is in the feed, its bytes are the same and signed, and attempts of one
 * delivery do not overlap.
 */
export function checkReceipts(history: History, hooks: Hook[]): Violation[] {
  const violations: Violation[] = []
  const known = new Map(history.reading.deliveries.map((one) => [one.id, one]))
  const events = new Map(history.reading.events.map((one) => [one.id, one]))
  const first = new Map<string, Receipt>()
  const gaveUp = createGaveUp(history)
  for (const receipt of history.receipts) {
    const id = deliveryOf(receipt)
    const { body, headers } = receipt
    const before = first.get(id)
    if (before) {
      if (before.body !== body) violations.push({ rule: 'body', told: `${id} came with two bodies` })
      if (receipt.at_ms < before.ended_ms && !gaveUp(id, before))
        violations.push({ rule: 'overlap', told: `${id} came twice at once` })
    }
    first.set(id, receipt)
    const hook = hooks.find(({ path }) => path === receipt.path)
    const delivery = known.get(id)
    const { webhook_id, ...told } = JSON.parse(body)
    const event = events.get(told.id)
    if (!event || !delivery || !hook) {
      violations.push({
        rule: 'phantom',
        told: `${id} arrived at ${receipt.path}; its event ${event ? 'is' : 'is not'} in the feed, it ${delivery ? 'is' : 'is not'} in the log`,
      })
      continue
    }
    if (!isDeepStrictEqual(told, event) || webhook_id !== hook.id)
      violations.push({ rule: 'body', told: `${id} is not what the feed tells` })
    if (headers['x-service-event'] !== event.event || delivery.event_id !== event.id)
      violations.push({ rule: 'delivery', told: `${id} says that it is ${headers['x-service-event']}` })
    if (!isSigned(receipt, hook)) violations.push({ rule: 'signature', told: `${id} at ${receipt.path}` })
    const gone = hook.deleted
    if (gone?.outcome === 'done' && receipt.at_ms > gone.answered_ms + tolerance_ms)
      violations.push({ rule: 'delivery', told: `${id} arrived after its webhook was deleted` })
  }
  return violations
}

/**
 * Whether the sender ended an attempt by a timeout. A receiver may notice that later. If each attempt arrived, the log
 * identifies the attempt. Otherwise, each timeout in the log excuses one attempt.
 */
function createGaveUp({ receipts, reading }: History) {
  const attempts_of = new Map(reading.deliveries.map(({ id, attempts }) => [id, attempts]))
  const arrived = Map.groupBy(receipts, deliveryOf)
  const excused = new Map<string, number>()
  return (id: string, receipt: Receipt): boolean => {
    const attempts = attempts_of.get(id) ?? []
    const mine = arrived.get(id) ?? []
    if (mine.length === attempts.length) return attempts[mine.indexOf(receipt)]?.code === 'timeout'
    const used = (excused.get(id) ?? 0) + 1
    excused.set(id, used)
    return used <= attempts.filter(({ code }) => code === 'timeout').length
  }
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text)

/** Signed by a secret that was valid then, in both forms, and by the newest one somewhere. */
function isSigned({ headers, body, at_ms }: Receipt, { secrets }: Hook): boolean {
  // Each one that may have signed first: not yet given up, or given up a moment ago.
  const first = secrets.filter(({ deed }, at) => {
    if (deed.sent_ms > at_ms) return false
    const next = secrets[at + 1]
    const after_next = secrets[at + 2]
    const given_up = next && (next.overlap ? after_next?.deed : next.deed)
    return !given_up || given_up.outcome === 'unknown' || given_up.answered_ms + tolerance_ms > at_ms
  })
  const service = String(headers['x-service-signature'])
  const standard = String(headers['webhook-signature']).split(' ')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const shows = (secret: string) => `sha256=${hmac(secret, body).digest('hex')}`
  const lists = (secret: string) => {
    const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
    return standard.includes(`v1,${hmac(key, signed).digest('base64')}`)
  }
  if (!first.some(({ secret }) => shows(secret) === service && lists(secret))) return false
  // The newest one that is certainly in force: a receiver that knows it alone must be able to verify.
  const certain = secrets.filter(({ deed }) => deed.answered_ms + tolerance_ms < at_ms)
  const changing = secrets.some(
    ({ deed }) => deed.sent_ms <= at_ms && deed.answered_ms + tolerance_ms >= at_ms,
  )
  const newest = certain.at(-1)
  if (!newest || changing) return true
  return (
    [service, String(headers['x-service-signature-next'])].includes(shows(newest.secret)) &&
    lists(newest.secret)
  )
}

/** No retry comes before its time: after the previous attempt ended, by the receiver's clock and by the log. */
export function checkSchedule(
  { receipts, reading, retry_delays_ms, deeds: done }: History,
  deeds: Deed[],
): Violation[] {
  const violations: Violation[] = []
  const resent = new Set(
    deeds.filter(({ what, outcome }) => what === 'resend' && outcome !== 'refused').map(({ id }) => id),
  )
  const by_delivery = new Map<string, Receipt[]>()
  for (const receipt of receipts)
    by_delivery.set(deliveryOf(receipt), [...(by_delivery.get(deliveryOf(receipt)) ?? []), receipt])
  const turned = done.some(({ what }) => what.startsWith('turn'))
  for (const { id, status, attempts, attempt_count } of reading.deliveries) {
    const counted = attempts.filter(({ code }) => code !== 'interrupted')
    if (counted.length !== attempt_count)
      violations.push({
        rule: 'delivery',
        told: `${id} counts ${attempt_count} of ${counted.length} attempts`,
      })
    if (resent.has(id)) continue
    if (counted.length > retry_delays_ms.length + 1)
      violations.push({ rule: 'delivery', told: `${id} has ${counted.length} attempts` })
    if (status === 'failed' && counted.length < retry_delays_ms.length + 1)
      violations.push({ rule: 'lost', told: `${id} was given up after ${counted.length} attempts` })
    // A set clock changes the times in the log. The receiver has a monotonic clock.
    if (!turned) violations.push(...checkAttempts(id, counted, retry_delays_ms))
    const arrived = by_delivery.get(id) ?? []
    if (attempts.length !== counted.length || arrived.length !== counted.length) continue
    for (let at = 1; at < arrived.length; at++) {
      const waited_ms = arrived[at]!.at_ms - arrived[at - 1]!.ended_ms
      // Only an attempt that was answered in time ended for both at the same time. A busy receiver may read a request
      // after the sender's timeout.
      const answered = arrived[at - 1]!.status !== null && counted[at - 1]!.code !== 'timeout'
      if (answered && waited_ms < retry_delays_ms[at - 1]! - 50)
        violations.push({
          rule: 'early',
          told: `${id}: attempt ${at + 1} came ${Math.round(waited_ms)} ms after the previous one ended`,
        })
    }
  }
  return violations
}

function checkAttempts(id: string, attempts: Delivery['attempts'], delays_ms: number[]): Violation[] {
  return attempts.slice(1).flatMap(({ started_at }, at) => {
    const before = attempts[at]!
    const waited_ms = Date.parse(started_at) - Date.parse(before.started_at) - before.duration_ms
    if (waited_ms >= delays_ms[at]! - 10) return []
    return [
      {
        rule: 'early' as const,
        told: `${id}: attempt ${at + 2} began ${waited_ms} ms after the previous one ended`,
      },
    ]
  })
}
