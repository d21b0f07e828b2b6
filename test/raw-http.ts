import { connect, type Socket } from 'node:net'

export type RawReply = { status: number; headers: Headers; text: string; body: ReturnType<typeof JSON.parse> }

// Takes one complete response off the front of what arrived; null while it is not all there.
export function takeResponse(bytes: Buffer, head: boolean): { reply: RawReply; rest: Buffer } | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Headers(fields.map((field) => field.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
  const status = Number(line.split(' ')[1])
  const length = head ? 0 : Number(headers.get('content-length') ?? 0)
  const start = end + 4
  if (bytes.length < start + length) return null
  const text = bytes.subarray(start, start + length).toString()
  const json = headers.get('content-type')?.includes('json') && text
  const reply = { status, headers, text, body: json ? JSON.parse(text) : text }
  return { reply, rest: bytes.subarray(start + length) }
}

/**
 * Sends bytes to a server without changes. Returns the responses, in order: `count` of them, or those before the server
 * closes the connection. For requests that no HTTP client would send.
 */
export async function exchange(
  url: string,
  bytes: string | Buffer,
  { count = 1, opened }: { count?: number; opened?: (socket: Socket) => void } = {},
): Promise<RawReply[]> {
  const { hostname, port } = new URL(url)
  const head = String(bytes).startsWith('HEAD ')
  const socket = connect(Number(port), hostname)
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  opened?.(socket)
  const replies: RawReply[] = []
  let arrived: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of socket) {
      arrived = Buffer.concat([arrived, chunk])
      for (let next = takeResponse(arrived, head); next; next = takeResponse(arrived, head)) {
        replies.push(next.reply)
        arrived = next.rest
      }
      if (replies.length >= count) break
    }
  } catch (error) {
    // A server that refuses a request while it is still being sent may reset the connection after its answer.
    if (!replies.length) throw error
  } finally {
    socket.destroy()
  }
  return replies
}
