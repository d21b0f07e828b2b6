import { command } from '../installed.ts'
import type { Io } from './command.ts'

/** The API of a running service, at RAPPORT_URL with RAPPORT_API_KEY. */
export type Api = (path: string, init?: RequestInit & { duplex?: 'half' }) => Promise<Response>

/** A request that failed; `status` is null if there was no answer. */
export class ApiFailure extends Error {
  readonly status: number | null
  constructor(status: number | null, message: string) {
    super(message)
    this.status = status
  }
}

/** The address and the key of the API. Throws without a key, or with an address that is not one. */
export function addressOf({ env }: Pick<Io, 'env'>): { url: string; key: string } {
  const { RAPPORT_URL: url = 'http://127.0.0.1:3000', RAPPORT_API_KEY: key } = env
  // `localhost:3000` is a URL with the scheme `localhost:`.
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
    throw new Error(`RAPPORT_URL is "${url}". It must be a URL such as http://127.0.0.1:3000.`)
  if (key) return { url, key }
  throw new Error(`RAPPORT_API_KEY is missing. Set it to an API key: ${command('keys create --name N')}`)
}

/** Calls the API. Throws the message of an error answer, with its first field. */
export function apiOf(io: Pick<Io, 'env'>): Api {
  const { url, key } = addressOf(io)
  return async (path, init = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) }
    // Another address must get neither the key nor a file.
    const sent: RequestInit = { ...init, headers, redirect: 'manual' }
    const response = await fetch(new URL(`/api/v1${path}`, url), sent).catch((error) => {
      const { cause } = error as { cause?: Error }
      const why = cause?.message || error.message
      throw new ApiFailure(null, `${url} cannot be reached (${why}). Set RAPPORT_URL.`)
    })
    if (response.ok) return response
    const text = await response.text()
    const location = response.headers.get('location')
    if (location && response.status < 400)
      throw new ApiFailure(
        response.status,
        `${url} redirects to ${location}. Set RAPPORT_URL to the address of the service.`,
      )
    throw new ApiFailure(response.status, messageOf(text) ?? `${url} answered ${response.status}.`)
  }
}

function messageOf(text: string): string | null {
  try {
    const { message, fields = [] } = JSON.parse(text).error
    return [message, fields[0]?.message].filter(Boolean).join(' ')
  } catch {
    return null
  }
}
