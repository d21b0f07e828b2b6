import { createClient, type Rapport } from '../../../client/src/index.ts'
import type { Context, HttpRequest } from './sdk.ts'

const timeout_ms = 30_000

/** The client of the installation that the credentials name. Requests go through n8n, and so through its proxy. */
export async function clientOf(context: Context): Promise<Rapport> {
  const { url, key } = await context.getCredentials('rapportApi')
  return createClient({ url: String(url ?? ''), key: String(key ?? ''), fetch: fetchOf(context) })
}

/** `fetch` by the request helper of n8n, as far as the client uses it. */
const fetchOf =
  (context: Context): typeof globalThis.fetch =>
  async (url, { method = 'GET', headers = {}, body } = {}) => {
    const answer = await context.helpers.httpRequestWithAuthentication.call(context, 'rapportApi', {
      method: method as HttpRequest['method'],
      url: String(url),
      headers: headers as Record<string, string>,
      ...(typeof body === 'string' && { body }),
      encoding: 'text',
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
      disableFollowRedirect: true,
      timeout: timeout_ms,
    })
    const { statusCode: status, body: content } = answer
    const text = typeof content === 'string' ? content : JSON.stringify(content ?? '')
    return new Response(status === 204 ? null : text, { status, headers: headersOf(answer.headers) })
  }

const headersOf = (sent: Record<string, string | string[] | undefined>): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(sent))
    for (const one of [value ?? []].flat()) headers.append(name, one)
  return headers
}
