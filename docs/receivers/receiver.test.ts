// runs: once
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { verify } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { freePort } from '../../test/ports.ts'

const secret = 'whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZCBzZWNyZXQ='
const next = 'whsec_bmV3IHNlY3JldCBuZXcgc2VjcmV0IG5ldyBzZWNyZXQ='
const body =
  '{"id":"evt_1","event":"deal.won","timestamp":"t","webhook_id":"wh_1","data":{"name":"Señalética 山"}}'

const sign = (key: string, text = body) => `sha256=${createHmac('sha256', key).update(text).digest('hex')}`

const folder = mkdtempSync(join(tmpdir(), 'rapport-receiver-'))
const store = join(folder, 'received.ndjson')
let url: string
let receiver: ReturnType<typeof spawn>
const printed: string[] = []

/** Starts the receiver on the store; resolves when it listens. */
async function start() {
  const port = await freePort()
  url = `http://127.0.0.1:${port}/hooks`
  receiver = spawn(process.execPath, [fileURLToPath(new URL('./receiver.mjs', import.meta.url))], {
    env: { WEBHOOK_SECRET: secret, WEBHOOK_SECRET_NEXT: next, PORT: String(port), STORE: store },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: receiver.stdout! })
  for await (const line of lines) {
    printed.push(line)
    if (line.startsWith('Receiving webhooks')) break
  }
  const rest = createInterface({ input: receiver.stdout! })
  rest.on('line', (line) => printed.push(line))
}

async function stop(signal: NodeJS.Signals) {
  receiver.kill(signal)
  await once(receiver, 'exit')
}

before(start)
after(async () => {
  await stop('SIGTERM')
  rmSync(folder, { recursive: true })
})

let number = 0
async function post(headers: Record<string, string>, text = body): Promise<number> {
  const delivery = { 'X-Service-Delivery': `dlv_${++number}` }
  const response = await fetch(url, { method: 'POST', body: text, headers: { ...delivery, ...headers } })
  return response.status
}

test('the documented receiver accepts what the secret signed and refuses everything else', async () => {
  assert.equal(await post({ 'X-Service-Signature': sign(secret) }), 200)
  assert.equal(await post({ 'X-Service-Signature': sign(secret) }, `${body} `), 401)
  assert.equal(await post({ 'X-Service-Signature': sign('another secret') }), 401)
  assert.equal(await post({ 'X-Service-Signature': sign(secret).slice(0, -1) }), 401)
  assert.equal(await post({ 'X-Service-Signature': 'é'.repeat(71) }), 401)
  assert.equal(await post({}), 401)
  assert.equal((await fetch(url)).status, 405)
})

test('the documented receiver accepts either secret in either header during a rotation', async () => {
  assert.equal(
    await post({ 'X-Service-Signature': sign(secret), 'X-Service-Signature-Next': sign(next) }),
    200,
  )
  assert.equal(
    await post({ 'X-Service-Signature': sign('gone'), 'X-Service-Signature-Next': sign(next) }),
    200,
  )
  assert.equal(await post({ 'X-Service-Signature': sign(next) }), 200)
})

test('the documented receiver answers a repeated delivery with 200 and handles it once', async () => {
  const named = (name: string) => body.replace('Señalética', name)
  const again = { 'X-Service-Delivery': 'dlv_again', 'X-Service-Signature': sign(secret, named('again')) }
  const handled = (name: string) => printed.filter((line) => line.includes(`"${name} 山"`)).length
  assert.equal(await post(again, named('again')), 200)
  assert.equal(await post(again, named('again')), 200)
  assert.equal(await post({ 'X-Service-Signature': sign(secret, named('last')) }, named('last')), 200)
  // The last delivery is printed after anything that the repeated one could have printed.
  while (handled('last') === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(handled('again'), 1)
  assert.ok(printed.includes('dlv_again came again: ignored'))
})

test('the documented receiver has stored a delivery when it answers, and works off what a crash left', async () => {
  const signed = { 'X-Service-Delivery': 'dlv_kept', 'X-Service-Signature': sign(secret) }
  assert.equal(await post(signed), 200)
  await stop('SIGKILL')
  assert.match(readFileSync(store, 'utf8'), /"delivery":"dlv_kept"/)

  const event = { ...JSON.parse(body), data: { name: 'left by a crash' } }
  writeFileSync(store, `${JSON.stringify({ delivery: 'dlv_left', event })}\n{"delivery":"dlv_cut`, {
    flag: 'a',
  })
  printed.length = 0
  await start()
  assert.equal(printed.filter((line) => line.includes('left by a crash')).length, 1)
  assert.equal(await post(signed), 200)
  assert.equal(await post({ ...signed, 'X-Service-Delivery': 'dlv_cut' }), 200)
  const told = () => printed.filter((line) => line.includes(' came again: ignored'))
  while (!told().length) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.deepEqual(told(), ['dlv_kept came again: ignored'])
})

test('the documented receiver refuses a body over its limit', async () => {
  const large = 'x'.repeat(8 * 1024 * 1024 + 1)
  const status = await post({ 'X-Service-Signature': sign(secret, large) }, large)
  assert.equal(status, 413)
  assert.equal(await post({ 'X-Service-Signature': sign(secret) }), 200)
})

test('the example request in the guide is genuine, by libraries of both kinds', async () => {
  const guide = readFileSync(new URL('../receiving-webhooks.md', import.meta.url), 'utf8')
  const [, head = '', payload = ''] = /```http\n([\s\S]*?)\n\n(.*)\n```/.exec(guide) ?? []
  const [, shown = ''] = /signed with `(whsec_[^`]+)`/.exec(guide) ?? []
  const headers = new Headers(
    head
      .split('\n')
      .slice(1)
      .map((line) => line.split(': ') as [string, string]),
  )
  assert.equal(await verify(shown, payload, headers.get('x-service-signature')!), true)

  const delivery = headers.get('webhook-id')!
  const sent = new Date(Number(headers.get('webhook-timestamp')) * 1000)
  assert.equal(new Webhook(shown).sign(delivery, sent, payload), headers.get('webhook-signature'))
  assert.equal(delivery, headers.get('x-service-delivery'))
  assert.equal(JSON.parse(payload).event, headers.get('x-service-event'))
})
