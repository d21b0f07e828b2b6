import type { TSchema } from 'typebox'
import type { Operation } from '../operation.ts'

// Until every route is declared with operation(): what the document has to know of the others is guessed from their paths.

export type UndeclaredRoute = {
  method: string | string[]
  url: string
  config?: { operation?: Operation; scope?: string; people_only?: boolean; unrepeatable?: boolean }
  schema?: {
    params?: TSchema
    querystring?: TSchema
    body?: TSchema
    response?: Record<number, TSchema>
  } & Record<string, unknown>
}

// What there is one of, for whoever asks.
const own = ['/session', '/profile', '/workspace']

/** The declaration of a route that has none. */
export function guessedOperation({
  method: methods,
  url,
  config = {},
  schema = {},
}: UndeclaredRoute): Operation {
  const { scope = 'open', people_only, unrepeatable } = config
  const { params, querystring: query, body, response: answers = {} } = schema
  const [method = ''] = [methods].flat()
  const named = url.includes(':')
  const changes = named ? method !== 'GET' : ['PUT', 'DELETE'].includes(method)
  return {
    ...{ method: method === 'PUT' ? ['PUT', 'PATCH'] : (method as 'GET'), path: url, scope, people_only },
    summary: String(schema.summary),
    ...{ params, query, body, answers },
    extension: schema['x-extension'] === true,
    repeatable: method === 'POST' && scope !== 'open' && !unrepeatable,
    guarded: changes && !('201' in answers),
    conditional: method === 'GET' && (/:\w+$/.test(url) || own.some((name) => url.endsWith(name))),
    resumable: url.endsWith('/stream'),
    conflict: schema['x-conflict'] === true,
    signs_in: schema['x-signs-in'] === true,
  }
}
