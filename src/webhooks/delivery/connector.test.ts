// runs: once
import assert from 'node:assert/strict'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { calmTime } from '../../../test/calm-time.ts'
import { certificate } from '../../../test/certificate.ts'
import { startReceiver, startTcpServer } from '../../../test/receiver.ts'
import { useFor } from '../../../test/use.ts'
import { trust } from '../../http/authorities.ts'
import { parseNetworks } from '../registration/target.ts'
import { createSender, type SenderOptions } from './deliver.ts'

const here = { allowed_networks: parseNetworks('127.0.0.1'), allow_private: false }
const nowhere = { allowed_networks: [], allow_private: false }
const message = { headers: { 'content-type': 'application/json' }, body: '{"event":"ping"}' }

function sender(t: TestContext, options: Partial<SenderOptions> = {}) {
  const made = createSender({
    policy: here,
    timeout_ms: 60_000,
    connect_timeout_ms: 60_000,
    version: 'test',
    ...options,
  })
  t.after(() => made.close())
  return made
}

async function receiver(t: TestContext) {
  const made = await useFor(t, startReceiver())
  return { ...made, port: new URL(made.url).port }
}

const tcpServer = (t: TestContext, ...how: Parameters<typeof startTcpServer>) =>
  useFor(t, startTcpServer(...how))

/** Answers of a name server that change with every question. */
function changing(...answers: string[][]) {
  const asked: string[] = []
  const resolve = async (name: string) => answers[Math.min(asked.push(name), answers.length) - 1]!
  return { asked, resolve }
}

test('an address that is not allowed gets no packet, in any spelling of the URL', async (t) => {
  const canary = await tcpServer(t, () => {})
  const { send } = sender(t, { policy: nowhere })
  const hosts = [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '１２７.0.0.1',
    'localhost',
    'localhost.',
  ]
  for (const host of [
    ...hosts,
    '[::ffff:7f00:1]',
    '[::7f00:1]',
    '[64:ff9b::7f00:1]',
    '0.0.0.0',
    'a.localhost',
  ]) {
    const outcome = await send({ ...message, url: `http://${host}:${canary.port}/hook` })
    assert.equal(outcome.error?.code, 'address_blocked', host)
    assert.match(outcome.error.message, /WEBHOOK_ALLOWED_NETWORKS/)
    assert.deepEqual([outcome.ok, outcome.response], [false, null])
  }
  assert.equal(canary.connections(), 0)
})

test('cloud metadata is blocked at send, whatever is allowed', async (t) => {
  const policy = { allowed_networks: parseNetworks('0.0.0.0/0, ::/0'), allow_private: true }
  const { send } = sender(t, { policy })
  for (const host of ['169.254.169.254', '2852039166', '[fd00:ec2::254]', '[64:ff9b::a9fe:a9fe]']) {
    const outcome = await send({ ...message, url: `http://${host}/latest/meta-data` })
    assert.equal(outcome.error?.code, 'address_blocked', host)
  }
})

test('the address that was checked is the one dialled: a name is resolved once per connection', async (t) => {
  const target = await receiver(t)
  const canary = await tcpServer(t, () => {}, '127.0.0.2')
  const { asked, resolve } = changing(['127.0.0.1'], ['127.0.0.2'])
  const { send } = sender(t, { resolve })

  const url = `http://hooks.example:${target.port}/hook`
  assert.equal((await send({ ...message, url })).ok, true)
  assert.deepEqual(asked, ['hooks.example'])
  assert.equal(target.received[0]?.headers.host, `hooks.example:${target.port}`)

  const rebound = await send({ ...message, url: `http://hooks.example:${canary.port}/hook` })
  assert.equal(rebound.error?.code, 'address_blocked')
  assert.equal(asked.length, 2)
  assert.equal(canary.connections(), 0)
})

test('one address that is not allowed among many blocks them all', async (t) => {
  const target = await receiver(t)
  for (const inner of ['127.0.0.2', '10.0.0.1', '::1', '169.254.169.254']) {
    for (const answers of [
      ['127.0.0.1', inner],
      [inner, '127.0.0.1'],
    ]) {
      const { send } = sender(t, { resolve: changing(answers).resolve })
      const outcome = await send({ ...message, url: `http://hooks.example:${target.port}/hook` })
      assert.equal(outcome.error?.code, 'address_blocked', answers.join())
      assert.equal(outcome.error.message.includes(inner), false, 'the message maps no inner network')
    }
  }
  assert.equal(target.received.length, 0)
})

test('the next address of a name is tried when the first one refuses', async (t) => {
  const target = await receiver(t)
  const policy = { allowed_networks: parseNetworks('127.0.0.0/8'), allow_private: false }
  const { send } = sender(t, { policy, resolve: changing(['127.0.0.9', '127.0.0.1']).resolve })
  assert.equal((await send({ ...message, url: `http://hooks.example:${target.port}/hook` })).ok, true)
})

test('an unknown name, a silent name server and a refused connection have different errors', async (t) => {
  const gone = await startTcpServer(() => {})
  await gone.close()
  const code = async (options: Partial<SenderOptions>, url: string) =>
    (await sender(t, options).send({ ...message, url })).error?.code

  const nxdomain = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
  assert.equal(await code({ resolve: nxdomain }, 'http://nowhere.example/'), 'dns_error')
  assert.equal(await code({ resolve: async () => [] }, 'http://nowhere.example/'), 'dns_error')
  const silent = () => new Promise<string[]>(() => {})
  assert.equal(await code({ resolve: silent, connect_timeout_ms: 50 }, 'http://slow.example/'), 'timeout')
  assert.equal(await code({}, gone.url), 'connection_refused')
  const policy = { ...here, allow_private: true }
  const both = async () => ['127.0.0.1', '127.0.0.2']
  assert.equal(await code({ policy, resolve: both }, `http://a.example:${gone.port}`), 'connection_refused')
})

test('a receiver that accepts but never finishes the TLS handshake times out with the connection limit', async (t) => {
  const mute = await tcpServer(t, () => {})
  const { send } = sender(t, { connect_timeout_ms: 150 })
  const url = `https://127.0.0.1:${mute.port}/`
  const { value: outcome, calm_ms } = await calmTime(() => send({ ...message, url }))
  assert.equal(outcome.error?.code, 'timeout')
  assert.match(outcome.error.message, /150 ms/)
  assert.ok(outcome.duration_ms >= 149 && calm_ms < 600, `${outcome.duration_ms} ms`)
})

const day = 86_400_000

async function httpsPort(t: TestContext, pair: { cert: string; key: string }): Promise<number> {
  const server = createTlsServer(pair, (request, response) =>
    request.resume().on('end', () => response.end('ok')),
  )
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

test('a certificate that is trusted, in date and for this host is accepted; any other is a tls_error', async (t) => {
  const now = Date.now()
  const good = certificate({ dns: 'hooks.example', ip: [127, 0, 0, 1] }, now - day, now + day)
  const expired = certificate({ dns: 'hooks.example' }, now - 2 * day, now - day)
  const port = await httpsPort(t, good)
  const resolve = async () => ['127.0.0.1']
  const outcome = (ca: string | undefined, url: string) =>
    sender(t, { secureContext: ca === undefined ? undefined : trust(ca), resolve }).send({ ...message, url })

  for (const url of [
    `https://hooks.example:${port}/`,
    `https://hooks.example.:${port}/`,
    `https://127.0.0.1:${port}/`,
  ]) {
    const accepted = await outcome(good.cert, url)
    assert.deepEqual([accepted.ok, accepted.response?.body], [true, 'ok'], JSON.stringify(accepted.error))
  }
  const refused = [
    await outcome(undefined, `https://hooks.example:${port}/`),
    await outcome(good.cert, `https://other.example:${port}/`),
    await outcome(expired.cert, `https://hooks.example:${await httpsPort(t, expired)}/`),
    await outcome(good.cert, `https://127.0.0.1:${(await receiver(t)).port}/`),
  ]
  for (const { error, response } of refused) {
    assert.equal(error?.code, 'tls_error', JSON.stringify(error))
    assert.equal(response, null)
  }
})
