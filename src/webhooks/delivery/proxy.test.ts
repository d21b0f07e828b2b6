// runs: once
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { certificate } from '../../../test/certificate.ts'
import { scratchFolder } from '../../../test/process.ts'
import { startReceiver, startTcpServer } from '../../../test/receiver.ts'
import { useFor } from '../../../test/use.ts'
import { trustFile } from '../../http/authorities.ts'
import { parseNetworks } from '../registration/target.ts'
import { createSender, type SenderOptions } from './deliver.ts'
import { parseProxy } from './proxy.ts'

const day = 86_400_000
const message = { headers: { 'content-type': 'application/json' }, body: '{"event":"ping"}' }
const public_only = { allowed_networks: [], allow_private: false }

/** A proxy that connects every name to a port of this machine, or answers CONNECT with another status. */
async function startProxy(t: TestContext, { to = 0, status = 200 } = {}) {
  const asked: { target: string | undefined; authorization: string | undefined }[] = []
  const server = createServer().on('connect', (request, socket, head) => {
    asked.push({ target: request.url, authorization: request.headers['proxy-authorization'] })
    socket.on('error', () => {})
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\nno`)
    const onward = connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.write(head)
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => socket.destroy())
    socket.on('close', () => onward.destroy())
    t.after(() => socket.destroy())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => void server.close())
  return { asked, port: (server.address() as AddressInfo).port }
}

function sender(t: TestContext, proxy_url: string, options: Partial<SenderOptions> = {}) {
  const made = createSender({
    policy: public_only,
    timeout_ms: 60_000,
    connect_timeout_ms: 60_000,
    version: 'test',
    resolve: async () => ['93.184.215.14'],
    proxy: parseProxy(proxy_url),
    ...options,
  })
  t.after(() => made.close('at once'))
  return made
}

async function receiver(t: TestContext, ...how: Parameters<typeof startReceiver>) {
  const made = await useFor(t, startReceiver(...how))
  return { ...made, port: Number(new URL(made.url).port) }
}

async function tlsReceiver(t: TestContext, pair: { cert: string; key: string }): Promise<number> {
  const server = createTlsServer(pair, (request, response) =>
    request.resume().on('end', () => response.end('ok')),
  )
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

test('a delivery goes through the proxy, by name, with its credentials, and over one tunnel', async (t) => {
  const target = await receiver(t)
  const proxy = await startProxy(t, { to: target.port })
  const { send } = sender(t, `http://me:p%40ss@127.0.0.1:${proxy.port}`)
  for (let n = 0; n < 2; n++) {
    const outcome = await send({ ...message, url: 'http://hooks.example/hook?a=1' })
    assert.equal(outcome.ok, true, JSON.stringify(outcome.error))
    // undici frees a connection after it has reported the answer's end.
    await new Promise(setImmediate)
  }
  const authorization = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
  assert.deepEqual(proxy.asked, [{ target: 'hooks.example:80', authorization }])
  const [first] = target.received
  assert.deepEqual(
    [first?.path, first?.headers.host, first?.body],
    ['/hook?a=1', 'hooks.example', message.body],
  )
  assert.equal(first?.headers['proxy-authorization'], undefined, 'the receiver does not get the password')
})

test('a password without a user, such as a token, is sent to the proxy', async (t) => {
  const target = await receiver(t)
  const proxy = await startProxy(t, { to: target.port })
  const { send } = sender(t, `http://:t0ken@127.0.0.1:${proxy.port}`)
  assert.equal((await send({ ...message, url: 'http://hooks.example/' })).ok, true)
  assert.equal(proxy.asked[0]?.authorization, `Basic ${Buffer.from(':t0ken').toString('base64')}`)
})

test('TLS is between the service and the receiver, whose certificate WEBHOOK_CA_FILE may vouch for', async (t) => {
  const now = Date.now()
  const pair = certificate({ dns: 'hooks.example' }, now - day, now + day)
  const other = certificate({ dns: 'other.example', authority: 'another' }, now - day, now + day)
  const file = join(scratchFolder(t), 'own.pem')
  writeFileSync(file, `# Two authorities of our own\n${other.cert}\n${pair.cert}`)
  const proxy = await startProxy(t, { to: await tlsReceiver(t, pair) })
  const url = `http://127.0.0.1:${proxy.port}`
  const trusting = sender(t, url, { secureContext: trustFile('WEBHOOK_CA_FILE', file) })

  const accepted = await trusting.send({ ...message, url: 'https://hooks.example/hook' })
  assert.deepEqual([accepted.ok, accepted.response?.body], [true, 'ok'], JSON.stringify(accepted.error))
  assert.equal(proxy.asked[0]?.target, 'hooks.example:443')
  const wrong = await trusting.send({ ...message, url: 'https://wrong.example/hook' })
  assert.equal(wrong.error?.code, 'tls_error')
  const unknown = await sender(t, url).send({ ...message, url: 'https://hooks.example/hook' })
  assert.equal(unknown.error?.code, 'tls_error')
})

test('a private target is refused before the proxy is asked, by address and by name', async (t) => {
  const proxy = await startProxy(t)
  const url = `http://127.0.0.1:${proxy.port}`
  const policy = { allowed_networks: parseNetworks('10.1.0.0/16'), allow_private: false }
  for (const [address, target] of [
    ['10.0.0.1', 'http://inner.example/'],
    ['169.254.169.254', 'http://metadata.example/'],
    ['93.184.215.14', 'http://127.0.0.1/'],
    ['93.184.215.14', 'https://[::1]/'],
  ] as const) {
    const { error } = await sender(t, url, { policy, resolve: async () => [address] }).send({
      ...message,
      url: target,
    })
    assert.equal(error?.code, 'address_blocked', target)
  }
  const gone = sender(t, url, { resolve: () => Promise.reject(new Error('unknown')) })
  assert.equal((await gone.send({ ...message, url: 'http://gone.example/' })).error?.code, 'dns_error')
  assert.deepEqual(proxy.asked, [])
})

test('an error of the proxy is an error of the attempt, and names the proxy', async (t) => {
  const closed = await startTcpServer(() => {})
  await closed.close()
  const cut = await startTcpServer((socket) => socket.once('data', () => socket.destroy()))
  const babbling = await startTcpServer((socket) =>
    socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n')),
  )
  const endless = await startTcpServer((socket) =>
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}`)),
  )
  const mute = await startTcpServer(() => {})
  t.after(() => Promise.all([cut, babbling, endless, mute].map((server) => server.close())))
  const refusing = async (status: number) => (await startProxy(t, { status })).port
  const failed = async (port: number) => {
    const limits = port === mute.port ? { connect_timeout_ms: 300 } : {}
    const { send } = sender(t, `http://127.0.0.1:${port}`, limits)
    const { error, response } = await send({ ...message, url: 'https://hooks.example/' })
    assert.equal(response, null)
    return [error?.code, error?.message]
  }
  const expected: [number, string, RegExp][] = [
    [await refusing(407), 'connection_refused', /^The proxy refused its user.*WEBHOOK_PROXY_URL/],
    [await refusing(403), 'connection_refused', /^The proxy did not connect .* answered 403\.$/],
    [await refusing(502), 'connection_refused', /^The proxy did not connect .* answered 502\.$/],
    [closed.port, 'connection_refused', /^The proxy could not be reached\. .*ECONNREFUSED/],
    [cut.port, 'connection_reset', /^The proxy closed the connection/],
    [babbling.port, 'protocol_error', /^The answer of the proxy is not valid HTTP/],
    [endless.port, 'protocol_error', /^The answer of the proxy is not valid HTTP/],
    [mute.port, 'timeout', /300 ms/],
  ]
  for (const [port, code, text] of expected) {
    const [seen, told] = await failed(port)
    assert.equal(seen, code, String(told))
    assert.match(String(told), text)
  }
})

test('the limits of a delivery are the same through a proxy: the timeout, the bytes of the answer', async (t) => {
  const target = await receiver(t, {
    answer: (_request, n) => (n === 1 ? { body: 'a'.repeat(50_000) } : 'hang'),
  })
  const proxy = await startProxy(t, { to: target.port })
  const { send } = sender(t, `http://127.0.0.1:${proxy.port}`)
  const large = await send({ ...message, url: 'http://hooks.example/' })
  assert.deepEqual([large.ok, large.response?.body.length], [true, 16_384])
  const silent = await send({ ...message, url: 'http://hooks.example/', timeout_ms: 500 })
  assert.equal(silent.error?.code, 'timeout')
})

test('a WEBHOOK_CA_FILE that cannot be read or parsed is an error with its name', (t) => {
  const folder = scratchFolder(t)
  const refused = (name: string, content: string | null, message: RegExp) => {
    const file = join(folder, name)
    if (content !== null) writeFileSync(file, content)
    assert.throws(() => trustFile('WEBHOOK_CA_FILE', file), { message })
  }
  refused('missing.pem', null, /^WEBHOOK_CA_FILE, .*missing\.pem, cannot be read: ENOENT\.$/)
  refused('empty.pem', '', /^WEBHOOK_CA_FILE, .*empty\.pem, has no certificate\./)
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  refused('broken.pem', broken, /^WEBHOOK_CA_FILE, .*broken\.pem, .*cannot be parsed: number 1\.$/)
})
