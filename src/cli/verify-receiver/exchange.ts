import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import type { SecureContext } from 'node:tls'
import { version } from '../../version.ts'

/** An answer of the receiver, or why there was none. */
export type Answer = { status: number | null; error: string | null; duration_ms: number }

export type Sent = { headers: Record<string, string>; body: string }

/** Sends the body in parts, with pauses between them, and the last part after a promise. */
export type Slowness = { parts: number; pause_ms: number; last_after?: Promise<void> }

/** How long an answer may take, and whose certificates are accepted; by default the public authorities. */
export type Limits = { timeout_ms: number; secureContext?: SecureContext | undefined }

/** Makes one POST on a connection of its own. Never rejects. */
export async function exchange(
  url: string,
  { headers, body }: Sent,
  { timeout_ms, secureContext }: Limits,
  slowness: Slowness = { parts: 1, pause_ms: 0 },
): Promise<Answer> {
  const begun = performance.now()
  const duration = () => Math.ceil(performance.now() - begun)
  const bytes = Buffer.from(body)
  try {
    const status = await new Promise<number>((resolve, reject) => {
      const send = url.startsWith('https:') ? requestHttps : requestHttp
      const request = send(url, {
        method: 'POST',
        agent: false,
        // Node passes it on to TLS, but its types do not have it.
        ...{ secureContext },
        signal: AbortSignal.timeout(timeout_ms),
        headers: { ...headers, 'Content-Length': bytes.length, 'User-Agent': `Rapport-Webhooks/${version}` },
      })
      request.on('error', reject)
      request.on('response', (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      sendParts(request, bytes, slowness)
    })
    return { status, error: null, duration_ms: duration() }
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string }
    const late = name === 'AbortError' || name === 'TimeoutError'
    const why = late ? `no answer within ${timeout_ms} ms` : (code ?? message)
    return { status: null, error: why, duration_ms: duration() }
  }
}

type Writable = { write(part: Buffer): unknown; end(): unknown; destroyed: boolean }

async function sendParts(request: Writable, bytes: Buffer, { parts, pause_ms, last_after }: Slowness) {
  const size = Math.ceil(bytes.length / parts)
  for (let at = 0; at < bytes.length && !request.destroyed; at += size) {
    if (at > 0) await pause(pause_ms)
    if (at + size >= bytes.length) await last_after
    if (!request.destroyed) request.write(bytes.subarray(at, at + size))
  }
  if (!request.destroyed) request.end()
}
