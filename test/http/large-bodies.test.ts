// runs: once
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { refused } from '../envelope.ts'
import { startService } from '../faults/service.ts'
import { useRapport } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { exchange, type RawReply, takeResponse } from '../raw-http.ts'

// Clients that send until the connection ends, and read meanwhile.

const mebibyte = 1024 * 1024
const rapport = useRapport({ env: { MAX_IMPORT_MB: '1' } })

type Sent = { path: string; type: string; mib: number; chunked: boolean; slow: boolean; more?: string }

/** Sends a request, to its end if the server takes it. Returns the answers until the connection ends. */
async function sendAndRead({ path, type, mib, chunked, slow, more = '' }: Sent): Promise<RawReply[]> {
  const { hostname, port } = new URL(rapport.url)
  const socket = connect({ port: Number(port), host: hostname })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let bytes: Buffer = Buffer.alloc(0)
  socket
    .on('error', () => {})
    .on('data', (part) => {
      bytes = Buffer.concat([bytes, part])
    })
  const write = async (bytes: string | Buffer) => {
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain').catch(() => {}), closed])
    if (slow) await turn()
  }
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${mib * mebibyte}`
  await write(
    `POST ${path} HTTP/1.1\r\nHost: rapport.example\r\nAuthorization: Bearer ${rapport.key}\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`,
  )
  const part = Buffer.alloc(slow ? mebibyte / 8 : 4 * mebibyte, 'a,')
  for (let sent = 0; sent < mib * mebibyte && socket.writable; sent += part.length)
    await write(
      chunked ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, line_end]) : part,
    )
  if (chunked) await write('0\r\n\r\n')
  if (more) await write(more)
  await closed
  const replies: RawReply[] = []
  for (let next = takeResponse(bytes, false); next; next = takeResponse(next.rest, false))
    replies.push(next.reply)
  return replies
}

const line_end = Buffer.from('\r\n')

/** Sends JSON in chunks of these sizes, by turns. Returns the status and the body of the answer. */
function sendInChunks(
  { url, key }: { url: string; key: string },
  path: string,
  body: object,
  sizes: number[],
) {
  const bytes = Buffer.from(JSON.stringify(body))
  const chunks: Buffer[] = []
  for (let from = 0; from < bytes.length; ) {
    const chunk = bytes.subarray(from, from + (sizes[chunks.length % sizes.length] ?? 1))
    chunks.push(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]))
    from += chunk.length
  }
  const head = `POST ${path} HTTP/1.1\r\nHost: rapport.example\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname })
  socket.write(Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')]))
  return text(socket)
}

test('a body in chunks of any size arrives as it was sent', async () => {
  const { id } = (await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' }))
    .body.data
  const path = `/api/v1/contacts/${id}/notes`
  const body = 'Größe 24 €, '.repeat(3000)
  for (const sizes of [[1], [1, 5000], [4095, 4097, 4096], [3, 100_000]])
    assert.match(await sendInChunks(rapport, path, { body }, sizes), /^HTTP\/1\.1 201 /)
  const notes = (await rapport.call('GET', path)).body.data
  assert.deepEqual(
    notes.map((note: { body: string }) => note.body === body.trim()),
    [true, true, true, true],
  )
})

test('a body in chunks of one byte needs little memory', async (t) => {
  const service = await startService(scratchFolder(t))
  t.after(() => service.end('SIGKILL'))
  const memory_mb = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) /
    1024
  const before_mb = memory_mb('VmRSS')
  const body = { first_name: 'Ana', last_name: 'x'.repeat(mebibyte / 2) }
  assert.match(await sendInChunks(service, '/api/v1/contacts', body, [1]), /^HTTP\/1\.1 422 /)
  const most_mb = memory_mb('VmHWM')
  assert.ok(most_mb < before_mb + 120, `${before_mb} MB, then ${most_mb} MB`)
})

const kinds = [
  { path: '/api/v1/contacts/batch', type: 'application/json' },
  { path: '/api/v1/imports?resource=contacts', type: 'text/csv' },
  { path: '/api/v1/imports/preview?resource=contacts', type: 'application/x-ndjson' },
  { path: '/api/v1/contacts', type: 'application/json' },
]

for (const { path, type } of kinds)
  test(`a client that sends a body above the limit to ${path} reads 413, and then its connection ends`, async () => {
    const ways = [false, true].flatMap((chunked) => [false, true].map((slow) => ({ chunked, slow })))
    await Promise.all(
      ways.map(async (way) => {
        const [reply, ...others] = await sendAndRead({ path, type, mib: 24, ...way })
        assert.ok(reply, `no answer: ${JSON.stringify(way)}`)
        refused(reply, 413, 'payload_too_large')
        assert.deepEqual(others, [])
      }),
    )
  })

test('the connection ends after the refused body: a request behind it is not run', async () => {
  const [{ path = '', type = '' } = {}] = kinds
  const body = JSON.stringify({ name: 'Behind' })
  const more = `POST /api/v1/companies HTTP/1.1\r\nHost: rapport.example\r\nAuthorization: Bearer ${rapport.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const replies = await sendAndRead({ path, type, mib: 24, chunked: false, slow: true, more })
  assert.deepEqual(
    replies.map(({ status }) => status),
    [413],
  )
  assert.equal((await rapport.call('GET', '/api/v1/companies?search=behind')).body.meta.total, 0)
})

test('a client that reads at once has the answer before it sends the body', async () => {
  const head = `POST /api/v1/contacts/batch HTTP/1.1\r\nHost: rapport.example\r\nAuthorization: Bearer ${rapport.key}\r\nContent-Type: application/json\r\nContent-Length: ${2 ** 40}\r\n\r\n`
  const [reply] = await exchange(rapport.url, head)
  assert.ok(reply)
  refused(reply, 413, 'payload_too_large')
})
