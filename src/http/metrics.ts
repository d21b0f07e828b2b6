import type { FastifyReply, FastifyRequest } from 'fastify'
import type { createProcessMetrics } from './process-metrics.ts'
import { addUp, createHistogram, head, single } from './prometheus.ts'
import type { App } from './server.ts'

/** Numbers of the delivery queue, read for each request of /metrics. Ages are in seconds. */
export type QueueNumbers = {
  due: number
  in_flight: number
  failed: number
  oldest_due_seconds: number
  /** Deliveries of paused webhooks. */
  paused: number
  oldest_paused_seconds: number
  /** Groups of up to 200 deliveries that wait to be inserted (db/fanouts.ts). */
  fanouts: number
  /** The age of the oldest unfinished work, by its kind. */
  oldest_work_seconds: Readonly<Record<string, number>>
  mails_due?: number
  mails_failed?: number
  mails_oldest_due_seconds?: number
}

/**
 * Whether removal is held because the clock may be wrong, and how often it was postponed. Whether acknowledged writes
 * survive a power cut.
 */
export type SafetyNumbers = { held: boolean; put_off: number; durable: boolean }

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const group_sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

// The default timeout of an attempt is 10 s.
const attempt_seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
// A delivery may wait for a dispatcher or for a paused webhook.
const receipt_seconds = [...attempt_seconds, 60, 300, 3600]

/** An attempt that has ended. `receipt`: the time from the event to the answer, if it is the first attempt of an event. */
export type AttemptNumbers = { outcome: string; seconds: number; receipt: number | null }

/** The other processes on the same port. Any of them may receive a request of /metrics. */
export type Peers = {
  /** Sets the function that answers the questions of other processes. */
  answerWith(read: () => string): void
  /** The answers of all other processes that answer within 1 s. */
  ask(): Promise<string[]>
}

function queueLines({ due, in_flight, failed, paused, fanouts, ...ages }: QueueNumbers): string[] {
  const gauge = (name: string, help: string, value: number) =>
    single(`rapport_deliveries_${name}`, 'gauge', help, value)
  return [
    ...gauge('due', 'Deliveries whose next attempt is due.', due),
    ...gauge('in_flight', 'Deliveries that are being attempted.', in_flight),
    ...gauge('failed', 'Deliveries in the log that failed.', failed),
    ...gauge('oldest_due_seconds', 'Age of the oldest due delivery.', ages.oldest_due_seconds),
    ...gauge('paused', 'Deliveries kept for paused webhooks, at most 100000.', paused),
    ...gauge('oldest_paused_seconds', 'Age of the oldest kept one.', ages.oldest_paused_seconds),
    ...gauge('fanouts', 'Groups of up to 200 deliveries that wait to be inserted, at most 100000.', fanouts),
    ...head('rapport_work_oldest_seconds', 'gauge', 'Age of the oldest unfinished work, by kind.'),
    ...Object.entries(ages.oldest_work_seconds).map(
      ([kind, age]) => `rapport_work_oldest_seconds{kind="${kind}"} ${age}`,
    ),
    ...single('rapport_mails_due', 'gauge', 'Mails whose next attempt is due.', ages.mails_due ?? 0),
    ...single('rapport_mails_failed', 'gauge', 'Mails in the log that failed.', ages.mails_failed ?? 0),
    ...single(
      'rapport_mails_oldest_due_seconds',
      'gauge',
      'Age of the oldest due mail.',
      ages.mails_oldest_due_seconds ?? 0,
    ),
  ]
}

const safetyLines = ({ held, put_off, durable }: SafetyNumbers): string[] => [
  ...single('rapport_removal_held', 'gauge', 'Removal waits: the clock may be wrong.', held),
  ...single('rapport_removal_put_off_total', 'counter', 'Removals that were put off for that.', put_off),
  ...single('rapport_database_durable', 'gauge', 'A power cut leaves all that was acknowledged.', durable),
]

/** Collects the metrics for /metrics, in Prometheus text. Each route has its own numbers. */
export function createMetrics(
  readQueue: () => Promise<QueueNumbers>,
  safety: () => SafetyNumbers,
  process_metrics: Pick<ReturnType<typeof createProcessMetrics>, 'lines'>,
  peers?: Peers,
  /** Attempts of mails, by outcome. */
  mailOutcomes: () => ReadonlyMap<string, number> = () => new Map(),
) {
  const groups = createHistogram(group_sizes)
  const attempts = new Map<string, number>()
  const attempt_time = createHistogram(attempt_seconds)
  const receipt_time = createHistogram(receipt_seconds)
  let held_up = 0
  type RouteNumbers = { duration: ReturnType<typeof createHistogram>; statuses: Map<number, number> }
  const routes = new Map<string, RouteNumbers>()

  function numbersOf(method: string, route: string) {
    const labels = `method="${method}",route="${route}"`
    let numbers = routes.get(labels)
    if (!numbers) {
      numbers = { duration: createHistogram(seconds), statuses: new Map() }
      routes.set(labels, numbers)
    }
    return numbers
  }

  const attemptLines = () => [
    ...head('rapport_delivery_attempts_total', 'counter', 'Attempts of deliveries that ended, by outcome.'),
    ...[...attempts].map(([outcome, n]) => `rapport_delivery_attempts_total{outcome="${outcome}"} ${n}`),
    ...head('rapport_delivery_attempt_seconds', 'histogram', 'Time of an attempt.'),
    ...attempt_time.lines('rapport_delivery_attempt_seconds', ''),
    ...head('rapport_delivery_receipt_seconds', 'histogram', 'Time from an event to its first answer.'),
    ...receipt_time.lines('rapport_delivery_receipt_seconds', ''),
    ...head('rapport_mail_attempts_total', 'counter', 'Attempts of mails that ended, by outcome.'),
    ...[...mailOutcomes()].map(([outcome, n]) => `rapport_mail_attempts_total{outcome="${outcome}"} ${n}`),
  ]

  function ownText(): string {
    const all = [...routes]
    return [
      ...head('rapport_http_requests_total', 'counter', 'Requests by route and status.'),
      ...all.flatMap(([labels, { statuses }]) =>
        [...statuses].map(([status, n]) => `rapport_http_requests_total{${labels},status="${status}"} ${n}`),
      ),
      ...head('rapport_http_request_seconds', 'histogram', 'Time from a request to the end of its answer.'),
      ...all.flatMap(([labels, { duration }]) => duration.lines('rapport_http_request_seconds', labels)),
      ...head('rapport_commit_group_size', 'histogram', 'Transactions that shared one commit.'),
      ...groups.lines('rapport_commit_group_size', ''),
      ...single(
        'rapport_slow_statements_total',
        'counter',
        'SQLite statements that took longer than 50 ms.',
        held_up,
      ),
      ...attemptLines(),
      ...process_metrics.lines(),
    ].join('\n')
  }
  peers?.answerWith(ownText)

  return {
    groupCommitted: (size: number) => groups.observe(size),
    statementHeld: () => void held_up++,
    attempted({ outcome, seconds, receipt }: AttemptNumbers) {
      attempts.set(outcome, (attempts.get(outcome) ?? 0) + 1)
      attempt_time.observe(seconds)
      if (receipt !== null) receipt_time.observe(receipt)
    },
    watch(app: App) {
      app.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        const { url = 'unknown', config } = request.routeOptions
        const { duration, statuses } = numbersOf(request.method, url)
        if (!config.operation?.endless) duration.observe(reply.elapsedTime / 1000)
        statuses.set(reply.statusCode, (statuses.get(reply.statusCode) ?? 0) + 1)
        done()
      })
    },
    /** The numbers of all processes on the port, and of the queue, which they share. */
    async text(): Promise<string> {
      const others = (await peers?.ask()) ?? []
      const counted = others.length ? addUp([ownText(), ...others]) : ownText()
      const lines = [counted, ...queueLines(await readQueue()), ...safetyLines(safety())]
      return `${lines.join('\n')}\n`
    },
    content_type: 'text/plain; version=0.0.4; charset=utf-8',
  }
}
export type Metrics = ReturnType<typeof createMetrics>
