import type { ServerResponse } from 'node:http'

/** The client of a stream. */
export type Recipient = {
  raw: ServerResponse
  /** Set while the client does not read. Nothing is written until it reads again. */
  blocked: boolean
  /** While it is blocked: since when, and how many bytes wait for the client in this process. */
  blocked_at: number
  unsent: number
  wrote_at: number
}

// Above the limit, disconnect streams blocked for 1 s, longest first. Clients resume by Last-Event-ID.
const max_blocked_ms = 1000

export const recipientOf = (raw: ServerResponse): Recipient => ({
  raw,
  blocked: false,
  blocked_at: 0,
  unsent: 0,
  wrote_at: 0,
})

/**
 * Writes to streams, and limits the bytes that wait for clients over all streams. `wake` runs when a client reads again. A
 * forgotten or disconnected stream leaves `streams`.
 */
export function createOutput<Stream extends Recipient>(
  streams: Set<Stream>,
  max_unsent_bytes: number,
  wake: () => void,
) {
  // Ordered by the time when they were blocked.
  const blocked = new Set<Stream>()
  let unsent = 0

  function unblock(stream: Stream) {
    if (!blocked.delete(stream)) return
    stream.blocked = false
    unsent -= stream.unsent
  }

  function forget(stream: Stream) {
    streams.delete(stream)
    unblock(stream)
  }

  return {
    forget,
    write(stream: Stream, text: string): void {
      stream.wrote_at = performance.now()
      if (stream.raw.write(text)) return
      stream.blocked = true
      stream.blocked_at = performance.now()
      stream.unsent = stream.raw.writableLength
      unsent += stream.unsent
      blocked.add(stream)
      stream.raw.once('drain', () => {
        unblock(stream)
        wake()
      })
    },
    /** Whether more bytes may wait for clients. Disconnects the streams that were blocked longest to make room. */
    hasRoom(): boolean {
      for (const stream of blocked) {
        if (unsent < max_unsent_bytes) return true
        if (performance.now() - stream.blocked_at < max_blocked_ms) return false
        forget(stream)
        stream.raw.destroy()
      }
      return unsent < max_unsent_bytes
    },
  }
}
