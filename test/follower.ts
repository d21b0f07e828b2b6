import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

export type Frame = { id?: string; event?: string; data?: string; retry?: string; comment?: string }

type Wishes = { headers?: Record<string, string>; query?: string }

/** Follows the events of a service over a real socket, as EventSource does, and keeps every frame. */
export async function follow(url: string, key: string, { headers = {}, query = '' }: Wishes = {}) {
  const request = get(`${url}/api/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    agent: false,
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const frames: Frame[] = []
  let text = ''
  response.setEncoding('utf8')
  response.on('error', () => {})
  response.on('data', (chunk: string) => {
    text += chunk
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) frames.push(parse(part))
  })
  const ended = new Promise<void>((resolve) => response.once('close', resolve))
  const events = () => frames.filter(({ data }) => data !== undefined)
  const follower = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    response,
    frames,
    events,
    /** The answer of a request that was refused. */
    refusal: async () => {
      await ended
      return JSON.parse(text)
    },
    /** The header that a browser would send when it comes back. */
    last_id: () => frames.findLast(({ id }) => id !== undefined)?.id ?? '',
    ended,
    async waitFor(count: number, limit_ms = 60_000): Promise<Frame[]> {
      const start = performance.now()
      while (events().length < count) {
        assert.ok(performance.now() - start < limit_ms, `${events().length} of ${count} events came`)
        await pause(5)
      }
      return events()
    },
    close: () => request.destroy(),
  }
  request.on('error', () => {})
  // The first frame shows that the stream is open: it sends all later commits.
  while (follower.status === 200 && !frames.length) await pause(1)
  return follower
}
export type Follower = Awaited<ReturnType<typeof follow>>

function parse(part: string): Frame {
  return Object.fromEntries(
    part.split('\n').map((line) => {
      const [, name = '', value = ''] = /^([a-z]*): ?(.*)$/s.exec(line) ?? []
      return [name || 'comment', value]
    }),
  )
}
