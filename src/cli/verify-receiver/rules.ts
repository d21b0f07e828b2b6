import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, exchange, type Limits, type Sent, type Slowness } from './exchange.ts'
import { changed, cut, samplesOf, unsigned } from './samples.ts'

/** The result of a rule. `is_kept` is null if the receiver gives no way to tell. */
export type Verdict = { rule: string; is_kept: boolean | null; seen: string; advice: string }

type Receiver = {
  sample: ReturnType<typeof samplesOf>
  send: (request: Sent, slowness?: Slowness) => Promise<Answer>
  timeout_ms: number
}

const accepted = ({ status }: Answer) => status !== null && status >= 200 && status <= 299
const refused = ({ status }: Answer) => status !== null && status >= 400 && status <= 499
const shown = ({ status, error, duration_ms }: Answer) => `${status ?? error} in ${duration_ms} ms`

const takes = (rule: string, answers: Answer[], advice: string): Verdict => ({
  rule: `accepts ${rule}`,
  is_kept: answers.every(accepted),
  seen: answers.map(shown).join(', '),
  advice,
})

const refuses = (rule: string, answer: Answer, advice: string): Verdict => ({
  rule: `refuses ${rule}`,
  is_kept: refused(answer),
  seen: shown(answer),
  advice: accepted(answer)
    ? advice
    : 'It does not accept the request, but the answer is no refusal. Answer 401, so that the log shows the cause.',
})

/** Tries the rules one after the other. Ends after the first one if the receiver does not accept a good request. */
export async function* verdictsOf(url: string, secret: string, limits: Limits): AsyncGenerator<Verdict> {
  const receiver: Receiver = {
    sample: samplesOf(secret),
    send: (request, slowness) => exchange(url, request, limits, slowness),
    timeout_ms: limits.timeout_ms,
  }
  const { sample, send } = receiver
  const good = takes(
    'a signed event',
    [await send(sample())],
    'Check the URL and the secret. Answer 200 to 299 as soon as the event is stored.',
  )
  yield good
  if (!good.is_kept) return
  yield* forgeries(receiver)
  yield await oldTimestamp(receiver)
  yield* repetitions(receiver)
  yield* surprises(receiver)
  yield* burdens(receiver)
}

async function* forgeries({ sample, send }: Receiver): AsyncGenerator<Verdict> {
  const anybody =
    'Anybody can send events. Compute the HMAC of the raw body, and compare it in constant time.'
  yield refuses('an event without a signature', await send(unsigned(sample())), anybody)
  yield refuses('a wrong signature', await send(sample({ signed: 'none' })), anybody)
  yield refuses(
    'a signature that was cut off',
    await send(cut(sample())),
    'Compare the whole signature, not its beginning.',
  )
  yield refuses(
    'a body that was changed after signing',
    await send(changed(sample())),
    'Compute the HMAC of the bytes as they arrived, not of JSON that was parsed and printed again.',
  )
}

// X-Service-Signature signs no time. Only a receiver that needs webhook-signature can refuse an old request.
async function oldTimestamp({ sample, send }: Receiver): Promise<Verdict> {
  const rule = 'a timestamp of ten minutes ago'
  const by_service_alone = await send(sample({ signed: 'service' }))
  const by_standard_alone = await send(sample({ signed: 'standard' }))
  if (accepted(by_service_alone) && !accepted(by_standard_alone))
    return {
      rule: `refuses ${rule}`,
      is_kept: null,
      seen: 'the receiver verifies X-Service-Signature, which signs no time',
      advice: 'Drop deliveries whose X-Service-Delivery you have, or verify the webhook-* headers.',
    }
  return refuses(
    rule,
    await send(sample({ time_s: -600 })),
    'A recorded request can be sent again. Refuse a webhook-timestamp that is more than 5 minutes off.',
  )
}

async function* repetitions({ sample, send }: Receiver): AsyncGenerator<Verdict> {
  const again = sample()
  yield takes(
    'a delivery that it has already',
    [await send(again), await send(again)],
    'A retry has the same X-Service-Delivery. Answer 200, and do nothing.',
  )
  const record = { event: 'contact.updated' }
  const newer = sample({ ...record, payload: { sequence: 2 } })
  const older = sample({ ...record, payload: { sequence: 1 } })
  yield takes(
    'an older event after a newer one',
    [await send(newer), await send(older)],
    'Deliveries can overtake each other. Answer 200, and keep the data of the larger sequence.',
  )
}

async function* surprises({ sample, send }: Receiver): AsyncGenerator<Verdict> {
  const later = 'A later version may send it. Answer 200, and ignore it.'
  yield takes(
    'an event type that it does not know',
    [await send(sample({ event: 'verification.unknown' }))],
    later,
  )
  yield takes(
    'fields that it does not know',
    [await send(sample({ payload: { new_field: { a: [1] } } }))],
    later,
  )
  yield takes(
    'a ping',
    [await send(sample({ event: 'ping', payload: { data: { message: 'A test.' } } }))],
    'The test of a webhook sends it. Answer 200, and ignore it.',
  )
}

const large_characters = 1_000_000

async function* burdens(receiver: Receiver): AsyncGenerator<Verdict> {
  const { sample, send } = receiver
  const text = 'Ä 山 "'.repeat(large_characters / 6)
  yield takes(
    'a body of 1 MB',
    [await send(sample({ payload: { data: { text } } }))],
    'Raise the limit of bodies, such as client_max_body_size of nginx or the limit of express.raw, to 2 MB.',
  )
  yield* slowRequest(receiver)
}

const parts = 6
const pause_ms = 400
// With the head start, less than the 10 s that a receiver must wait for a body.
const max_hold_ms = 9000

async function* slowRequest({ sample, send, timeout_ms }: Receiver): AsyncGenerator<Verdict> {
  // The last part waits for the answer to another request. So the order judges, not the speed of the machine.
  const { promise: last_after, resolve: sendLast } = Promise.withResolvers<void>()
  const slowly = send(sample(), { parts, pause_ms, last_after })
  await pause(pause_ms)
  const other = send(sample())
  const hold_ms = Math.min(max_hold_ms, timeout_ms / 2)
  const is_first = await Promise.race([other.then(accepted), pause(hold_ms, false, { ref: false })])
  sendLast()
  yield takes(
    'a request that arrives slowly',
    [await slowly],
    'Wait for the whole body, at least 10 s, before you verify it.',
  )
  yield {
    rule: 'answers others while a request arrives slowly',
    is_kept: is_first,
    seen: shown(await other),
    advice: 'One slow client holds back all. Let the server read several requests at once.',
  }
}
