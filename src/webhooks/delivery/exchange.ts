import type { Clock } from '../../clock.ts'
import type { Seal } from '../../db/seal.ts'
import type { BuildBody } from './bodies.ts'
import type { LoadedClaim } from './claim.ts'
import type { AttemptOutcome, Sender } from './deliver.ts'
import { signedRequest } from './signed-request.ts'

type Options = {
  clock: Clock
  seal: Seal
  sender: Sender
  buildBody: BuildBody
  onError: (error: unknown) => void
}

/**
 * Signs and sends the request of a claim. Not an async function, and no closure over the payload: either would keep the payload
 * in memory until the answer.
 */
export function exchange(
  { clock, seal, sender, buildBody, onError }: Options,
  claim: LoadedClaim,
  mayStart: () => boolean,
): Promise<AttemptOutcome> {
  const started_at_ms = clock.now()
  const failed = buildFailure(claim.url, started_at_ms, onError)
  try {
    const request = signedRequest(claim, seal, started_at_ms, buildBody)
    const sent = sender.send({ ...request, timeout_ms: claim.timeout_ms, mayStart })
    return sent.then((outcome) => ({ ...outcome, started_at_ms }), failed)
  } catch (error) {
    return Promise.resolve(failed(error))
  }
}

// A request that cannot be built counts as a failed attempt. So its retries end, and other deliveries continue.
const buildFailure =
  (url: string, started_at_ms: number, onError: (error: unknown) => void) =>
  (error: unknown): AttemptOutcome => {
    onError(error)
    const message = "The request could not be built. See the service's log."
    const failure = { code: 'protocol_error' as const, message }
    const request = { url, headers: {} }
    return { started_at_ms, duration_ms: 0, request, response: null, error: failure, ok: false }
  }
