// runs: once, timed
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { startService } from '../faults/service.ts'
import { scratchFolder } from '../process.ts'

const mebibyte = 1024 * 1024

/** Sends bodies without a key over four connections, each time until the connection ends. Returns the function that stops it. */
function floodWithStrangers(url: string): () => void {
  const { hostname, port } = new URL(url)
  const part = Buffer.alloc(mebibyte, ' ')
  const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
  const open = new Set<Socket>()
  let stopped = false
  const begin = (path: string, is_chunked: boolean) => {
    if (stopped) return
    const socket = connect({ port: Number(port), host: hostname })
    open.add(socket)
    const send = () => {
      while (socket.writable && socket.write(is_chunked ? chunk : part));
    }
    socket.on('error', () => {}).on('drain', send)
    socket.once('close', () => {
      open.delete(socket)
      setImmediate(begin, path, is_chunked)
    })
    const length = is_chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${2 ** 40}`
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: rapport.example\r\nContent-Type: application/json\r\n${length}\r\n\r\n`,
    )
    send()
    socket.resume()
  }
  for (const path of ['/api/v1/contacts', '/api/v1/session'])
    for (const is_chunked of [false, true]) begin(path, is_chunked)
  return () => {
    stopped = true
    for (const socket of open) socket.destroy()
  }
}

test('four strangers whose bodies are refused take at most a fifth of the rate of a key holder', async (t) => {
  const service = await startService(scratchFolder(t))
  t.after(() => service.end('SIGKILL'))
  // The time of the first thread, which serves requests. Other work of the machine does not add to it.
  const cpu_ns = () => Number(readFileSync(`/proc/${service.pid}/schedstat`, 'utf8').split(' ')[0])
  const costOfWrites = async (n: number) => {
    const begun_ns = cpu_ns()
    for (let made = 0; made < n; made++)
      assert.equal((await service.call('POST', '/api/v1/companies', { name: 'Held' })).status, 201)
    return cpu_ns() - begun_ns
  }
  await costOfWrites(200)
  let [alone_ns, beside_ns] = [0, 0]
  for (let round = 0; round < 5; round++) {
    alone_ns += await costOfWrites(100)
    const stop = floodWithStrangers(service.url)
    beside_ns += await costOfWrites(100)
    stop()
  }
  const rate = alone_ns / beside_ns
  assert.ok(rate >= 0.8, `${rate.toFixed(2)} of the rate`)
})
