import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isoTime, systemClock } from '../../clock.ts'
import { bodyFor } from '../../events/emit.ts'
import type { AttemptOutcome, Sender } from '../../webhooks/delivery/deliver.ts'
import { signatureHeaders } from '../../webhooks/delivery/signature.ts'

export type Target = {
  url: string
  webhook_id: string
  /** One, or two during a rotation. */
  secrets: readonly string[]
  /** The listener's own secret, from which the ids of deliveries are made. It outlives a rotation. */
  id_secret: string
}

type Forwarder = {
  sender: Sender
  target: Target
  signal: AbortSignal
  print: (line: string) => void
}

// The pauses while the target cannot be reached; the last one repeats. An answer that is an error is repeated three times.
const pauses_ms = [1000, 2000, 5000, 10_000, 30_000]
const answer_pauses_ms = [1000, 5000, 30_000]

/**
 * Posts an event to the target, as a webhook would, until it is done. True: the target has accepted it, or answered with
 * errors only. False: the signal came first.
 */
export async function forward(
  { sender, target, signal, print }: Forwarder,
  { name, payload }: { name: string; payload: string },
): Promise<boolean> {
  const body = bodyFor({ payload, seq: 0 }, target.webhook_id)
  const delivery_id = deliveryId(target, JSON.parse(payload).id)
  let answered = 0
  for (let attempt = 0; !signal.aborted; attempt++) {
    const outcome = await sender.send({
      url: target.url,
      headers: headersOf(target, name, delivery_id, body),
      body,
    })
    if (outcome.response && !outcome.ok) answered++
    const pause_ms = outcome.ok ? undefined : pauseAfter(outcome, attempt, answered)
    print(lineOf(name, delivery_id, outcome, pause_ms))
    if (pause_ms === undefined) return true
    await pause(pause_ms, null, { signal }).catch(() => {})
  }
  return false
}

/** The pause before the next attempt; undefined after the last one. */
const pauseAfter = (outcome: AttemptOutcome, attempt: number, answered: number): number | undefined =>
  outcome.response === null
    ? pauses_ms[Math.min(attempt, pauses_ms.length - 1)]
    : answer_pauses_ms[answered - 1]

// The same after a restart, so that a receiver drops an event that it has.
function deliveryId({ id_secret }: Target, event_id: string): string {
  return `dlv_${createHmac('sha256', id_secret).update(event_id).digest('hex').slice(0, 32)}`
}

function headersOf(
  { secrets }: Target,
  name: string,
  delivery_id: string,
  body: string,
): Record<string, string> {
  const timestamp = Math.floor(systemClock.now() / 1000)
  return {
    'Content-Type': 'application/json',
    'X-Service-Event': name,
    'X-Service-Delivery': delivery_id,
    ...signatureHeaders({ secrets, delivery_id, timestamp, body }),
  }
}

function lineOf(name: string, id: string, outcome: AttemptOutcome, pause_ms: number | undefined): string {
  const { response, error, duration_ms, started_at_ms, ok } = outcome
  const failed = ok || response ? '' : `: ${error?.message}`
  const next = pause_ms === undefined ? ', given up' : `, next attempt in ${pause_ms / 1000} s`
  const result = `${response?.status ?? error?.code} in ${duration_ms} ms`
  return `${isoTime(started_at_ms)} ${name} ${id} ${result}${ok ? '' : next}${failed}`
}
