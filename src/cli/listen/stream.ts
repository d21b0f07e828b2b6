import { setTimeout as pause } from 'node:timers/promises'
import { type Api, ApiFailure } from '../api.ts'

/** A position in the feed; with an event, unless it is the first frame of a stream. */
export type Frame = { cursor: string; event?: { name: string; payload: string } }

type Options = {
  /** The position to continue at. It is read again after each interruption. */
  cursor: () => string | null
  signal: AbortSignal
  onTrouble: (message: string) => void
}

// The service sends at least a comment every 15 s.
const silence_ms = 60_000
const reconnect_ms = 2000

/** Follows the stream of events over interruptions, until the signal. Throws when the service refuses it for good. */
export async function* followEvents(api: Api, { cursor, signal, onTrouble }: Options): AsyncGenerator<Frame> {
  while (!signal.aborted) {
    const connection = new AbortController()
    const ends = AbortSignal.any([signal, connection.signal])
    try {
      const place = cursor()
      const response = await api('/events/stream', {
        signal: ends,
        headers: place === null ? {} : { 'last-event-id': place },
      })
      if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
        throw new Error(`${response.url} answered without a stream of events. Check RAPPORT_URL.`)
      yield* framesOf(response, () => connection.abort(new Error('The service sent nothing for 60 s.')))
    } catch (error) {
      if (signal.aborted) return
      if (isFinal(error)) throw error
      onTrouble((error as Error).message)
    } finally {
      connection.abort()
    }
    await pause(reconnect_ms, null, { signal }).catch(() => {})
  }
}

// Without an answer, and with these answers, the same request may succeed later.
function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiFailure) || error.status === null) return false
  return error.status < 500 && error.status !== 429 && error.status !== 408
}

async function* framesOf(response: Response, drop: () => void): AsyncGenerator<Frame> {
  let text = ''
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>
  for (;;) {
    // The timer runs only while it waits: an event may take longer to deliver.
    const timer = setTimeout(drop, silence_ms)
    const { done, value } = await reader.read().finally(() => clearTimeout(timer))
    if (done) return
    const frames = (text + value).split('\n\n')
    text = frames.pop() as string
    for (const frame of frames) {
      const parsed = parse(frame)
      if (parsed) yield parsed
    }
  }
}

function parse(frame: string): Frame | null {
  // Not a RegExp: its lines also end at U+2028, which a name may have.
  const lines = frame.split('\n')
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const [cursor, name, payload] = [field('id'), field('event'), field('data')]
  if (cursor === undefined) return null
  return name !== undefined && payload !== undefined ? { cursor, event: { name, payload } } : { cursor }
}
