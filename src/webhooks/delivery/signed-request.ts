import type { Seal } from '../../db/seal.ts'
import { openHeaders } from '../registration/headers.ts'
import { signingSecrets } from '../registration/secrets.ts'
import type { BuildBody } from './bodies.ts'
import type { LoadedClaim } from './claim.ts'
import type { AttemptRequest } from './deliver.ts'
import { signatureHeaders } from './signature.ts'

/** The request of a claim, signed at `now_ms`. The body is a Buffer outside the JavaScript heap. The attempt keeps no other copy. */
export function signedRequest(
  claim: LoadedClaim,
  seal: Seal,
  now_ms: number,
  buildBody: BuildBody,
): AttemptRequest {
  const { delivery_id, webhook_id, url } = claim
  const body = Buffer.from(buildBody(claim, webhook_id, claim.format))
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'X-Service-Event': claim.event,
    'X-Service-Delivery': delivery_id,
    ...signatureHeaders({
      secrets: signingSecrets(claim, seal, now_ms),
      delivery_id,
      timestamp: Math.floor(now_ms / 1000),
      body,
    }),
  }
  if (claim.traceparent !== null && claim.kind !== 'ping') headers.traceparent = claim.traceparent
  return { url, headers, own_headers: openHeaders(claim.headers, seal), body }
}
