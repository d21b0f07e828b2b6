import { command } from '../installed.ts'
import type { Io } from './command.ts'

/** The API of a running service, at RAPPORT_URL with RAPPORT_API_KEY. */
export type Api = (path: string, init?: RequestInit & { duplex?: 'half' }) => Promise<Response>

/** Calls the API. Throws the message of an error answer, with its first field. */
export function apiOf({ env }: Pick<Io, 'env'>): Api {
  const { RAPPORT_URL: url = 'http://127.0.0.1:3000', RAPPORT_API_KEY: key } = env
  if (!key)
    throw new Error(`RAPPORT_API_KEY is missing. Set it to an API key: ${command('keys create --name N')}`)
  return async (path, init = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) }
    const response = await fetch(new URL(`/api/v1${path}`, url), { ...init, headers }).catch((error) => {
      const { cause } = error as { cause?: Error }
      throw new Error(`${url} cannot be reached (${cause?.message || error.message}). Set RAPPORT_URL.`)
    })
    if (response.ok) return response
    const text = await response.text()
    throw new Error(messageOf(text) ?? `${url} answered ${response.status}.`)
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
