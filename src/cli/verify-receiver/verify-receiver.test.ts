// runs: once
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { certificate } from '../../../test/certificate.ts'
import { freePort } from '../../../test/ports.ts'
import { scratchFolder } from '../../../test/process.ts'
import { runRapport } from '../../../test/run-rapport.ts'

const secret = 'whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZCBzZWNyZXQ='

type Request = { headers: Record<string, string>; body: string; event: Record<string, unknown> }
/** Answers a request with a status. */
type Receiver = (request: Request) => number | Promise<number>

async function serve(
  t: TestContext,
  receive: Receiver,
  read: (r: IncomingMessage) => Promise<Buffer> = buffer,
  pair?: { key: string; cert: string },
) {
  const answer: RequestListener = async (request, response) => {
    const body = String(await read(request).catch(() => ''))
    const headers = request.headers as Record<string, string>
    const status = await receive({ headers, body, event: JSON.parse(body) })
    if (status) response.writeHead(status).end()
  }
  const server = pair ? createHttpsServer(pair, answer) : createServer(answer)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => server.close().closeAllConnections())
  return `http${pair ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

async function verify(t: TestContext, url: string, words = ['--secret', secret], env = {}) {
  const DATA_DIR = scratchFolder(t)
  // On a busy machine, a receiver may take longer for a body of 1 MB than the usual limit.
  const settings = { DATA_DIR, WEBHOOK_TIMEOUT_MS: '60000', ...env }
  const { code, stdout, stderr } = await runRapport(['verify-receiver', url, ...words], settings)
  const lines = stdout.split('\n')
  const rules = (word: string) =>
    lines.flatMap((line) => new RegExp(`^${word} +(.*?): `).exec(line)?.[1] ?? [])
  return { code, stderr, stdout, keeps: rules('keeps'), breaks: rules('breaks'), skipped: rules('not tried') }
}

const genuine = ({ headers, body }: Request): boolean => {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}
const good: Receiver = (request) => (genuine(request) ? 204 : 401)
const serviceSignature = (body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

const forged = [
  'refuses an event without a signature',
  'refuses a wrong signature',
  'refuses a signature that was cut off',
  'refuses a body that was changed after signing',
]
const old = 'refuses a timestamp of ten minutes ago'

const seen = new Set<string>()
const newest = { sequence: 0 }
const broken: [string, Receiver, string[]][] = [
  ['verifies nothing', () => 200, [...forged, old]],
  ['fails at a bad signature', (request) => (genuine(request) ? 200 : 500), [...forged, old]],
  [
    'verifies no time',
    (request) => {
      const { headers, body } = request
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const key = Buffer.from(secret.slice(6), 'base64')
      return headers['webhook-signature'] ===
        `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
        ? 200
        : 401
    },
    [old],
  ],
  [
    'compares the beginning of the signature',
    ({ headers, body }) => {
      const given = headers['x-service-signature']
      return given && serviceSignature(body).startsWith(given) ? 200 : 401
    },
    ['refuses a signature that was cut off'],
  ],
  [
    'signs a part of the body',
    ({ headers, event }) => (headers['x-service-signature'] && event.test !== undefined ? 200 : 401),
    [
      'refuses a wrong signature',
      'refuses a signature that was cut off',
      'refuses a body that was changed after signing',
      old,
    ],
  ],
  [
    'refuses duplicates',
    (request) => {
      if (!genuine(request)) return 401
      const id = String(request.headers['x-service-delivery'])
      if (seen.has(id)) return 409
      seen.add(id)
      return 200
    },
    ['accepts a delivery that it has already'],
  ],
  [
    'refuses older events',
    (request) => {
      const sequence = Number(request.event.sequence ?? 0)
      if (!genuine(request)) return 401
      if (request.event.event === 'contact.updated' && sequence < newest.sequence) return 409
      newest.sequence = sequence
      return 200
    },
    ['accepts an older event after a newer one'],
  ],
  [
    'knows its events only',
    (request) =>
      genuine(request) ? (/^(deal|contact)\./.test(String(request.event.event)) ? 200 : 400) : 401,
    ['accepts an event type that it does not know', 'accepts a ping'],
  ],
  [
    'refuses unknown fields',
    (request) => (genuine(request) ? ('new_field' in request.event ? 422 : 200) : 401),
    ['accepts fields that it does not know'],
  ],
  [
    'takes 100 kB only',
    (request) => (request.body.length > 100_000 ? 413 : good(request)),
    ['accepts a body of 1 MB'],
  ],
]

// Each waits 2 s for the slow request.
describe('rapport verify-receiver', { concurrency: 3 }, () => {
  test('a receiver that verifies time and signature keeps all rules', async (t) => {
    const { code, breaks, skipped, keeps, stdout } = await verify(t, await serve(t, good))
    assert.deepEqual([code, breaks, skipped], [0, [], []], stdout)
    assert.equal(keeps.length, 14)
    assert.match(stdout, /The receiver keeps all rules that were tried\.$/)
  })

  test('the sample receiver keeps all rules; the age of a request cannot be seen by it', async (t) => {
    const file = fileURLToPath(new URL('../../../docs/receivers/receiver.mjs', import.meta.url))
    const env = { WEBHOOK_SECRET: secret, PORT: '0', STORE: join(scratchFolder(t), 'received.ndjson') }
    // It prints the port of its setting.
    const port = await freePort()
    const child = spawn(process.execPath, [file], {
      env: { ...env, PORT: `${port}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('Receiving')) break
    child.stdout.resume()
    const { code, breaks, skipped, stdout } = await verify(t, `http://127.0.0.1:${port}/`)
    assert.deepEqual([code, breaks, skipped], [0, [], [old]], stdout)
  })

  for (const [name, receive, rules] of broken)
    test(`a receiver that ${name} breaks just these rules: ${rules.join('; ')}`, async (t) => {
      const { code, breaks, stdout } = await verify(t, await serve(t, receive))
      assert.deepEqual([code, breaks], [1, rules], stdout)
      assert.match(stdout, new RegExp(`The receiver breaks ${rules.length} rules?\\.$`))
    })

  test('a receiver that reads one request at a time lets a slow client hold back the others', async (t) => {
    let last: Promise<unknown> = Promise.resolve()
    const read = (request: IncomingMessage) => {
      const mine = last.then(() => buffer(request))
      last = mine.catch(() => {})
      return mine
    }
    const { breaks } = await verify(t, await serve(t, good, read))
    assert.deepEqual(breaks, ['answers others while a request arrives slowly'])
  })

  test('a receiver that takes long for an answer, but waits for no other client, keeps all rules', async (t) => {
    let reading = 0
    const read = async (request: IncomingMessage) => {
      if (++reading > 1) await pause(2000)
      return buffer(request).finally(() => reading--)
    }
    const { breaks, stdout } = await verify(t, await serve(t, good, read))
    assert.deepEqual(breaks, [], stdout)
  })

  test('without an accepted event the rest is not tried: no answer, a redirect, a refused connection, another secret', async (t) => {
    const first = ['accepts a signed event']
    const hanging = await verify(t, await serve(t, () => 0), undefined, { WEBHOOK_TIMEOUT_MS: '300' })
    assert.deepEqual([hanging.code, hanging.breaks], [1, first])
    assert.match(hanging.stdout, /no answer within 300 ms in/)
    for (const url of [await serve(t, () => 307), 'http://127.0.0.1:9/hook'])
      assert.deepEqual((await verify(t, url)).breaks, first)
    const other = await verify(t, await serve(t, good), ['--secret', 'another secret of mine'])
    assert.deepEqual([other.code, other.breaks, other.keeps], [1, first, []])
  })

  test('a certificate of WEBHOOK_CA_FILE is accepted, as by the service, and no other one', async (t) => {
    const pair = certificate({ ip: [127, 0, 0, 1] }, Date.now() - 60_000, Date.now() + 3_600_000)
    const url = await serve(t, good, buffer, pair)
    const WEBHOOK_CA_FILE = join(scratchFolder(t), 'ca.pem')
    writeFileSync(WEBHOOK_CA_FILE, pair.cert)
    assert.deepEqual((await verify(t, url, undefined, { WEBHOOK_CA_FILE })).breaks, [])
    assert.deepEqual((await verify(t, url)).breaks, ['accepts a signed event'])
  })

  test('the secret may come from the environment; a wrong command line exits with 2', async (t) => {
    const url = await serve(t, good)
    assert.equal((await verify(t, url, [], { RAPPORT_WEBHOOK_SECRET: secret })).code, 0)
    assert.equal((await verify(t, url, [])).code, 2)
    assert.equal((await verify(t, url, ['--secret', 'short'])).code, 2)
    assert.equal((await verify(t, 'ftp://127.0.0.1/')).code, 2)
  })
})
