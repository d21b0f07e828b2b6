// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makePage } from '../booking.ts'
import { refused } from '../envelope.ts'
import { startRapport, turnableClock, useRapport } from '../harness.ts'
import { type Operation, readOperations } from '../operations.ts'
import { exchange } from '../raw-http.ts'
import { before } from '../use.ts'

const limit = 16 * 1024

const rapport = useRapport()
let open: Operation[]
let keyed: Operation[]
before(async () => {
  const operations = await readOperations(rapport)
  open = operations.filter(({ caller, body }) => caller === 'anyone' && body)
  keyed = operations.filter(({ caller, body }) => caller !== 'anyone' && body)
  await makePage(rapport)
})

/** The head of a request whose body is never sent, so the service must answer before it reads the body. */
async function answerToHead(url: string, method: string, path: string, bytes: number, ...more: string[]) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: a', `Content-Length: ${bytes}`, ...more]
  const [reply] = await exchange(url, `${lines.join('\r\n')}\r\n\r\n`)
  assert.ok(reply, `${method} ${path} waits for its body`)
  return reply
}
const json = 'Content-Type: application/json'
const pathOf = ({ path }: Operation) => path.replaceAll(/\{\w+\}/g, '1')

test('an open route takes a body of 16 KiB and refuses a longer one with 413, before any of it is read', async () => {
  assert.ok(open.length >= 5)
  for (const operation of open) {
    const { method, path } = operation
    refused(await answerToHead(rapport.url, method, path, limit + 1, json), 413, 'payload_too_large')
    const whole = await rapport.call(method, path, '{}'.padEnd(limit))
    assert.ok(![413, 429].includes(whole.status), `${path}: ${whole.text}`)
  }
})

test('a body that does not announce its length is 413 as soon as it is longer than 16 KiB', async () => {
  const chunk = `${(8192).toString(16)}\r\n${' '.repeat(8192)}\r\n`
  for (const { method, path } of open) {
    const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const [reply] = await exchange(rapport.url, head + chunk.repeat(3))
    assert.ok(reply)
    refused(reply, 413, 'payload_too_large')
  }
})

test('a form of a booking page is 413 above 16 KiB too', async () => {
  const form = 'Content-Type: application/x-www-form-urlencoded'
  const paths = ['/book/demo', `/book/demo/a/${'a'.repeat(43)}/cancel`, `/book/demo/a/${'a'.repeat(43)}/move`]
  for (const path of paths)
    assert.equal((await answerToHead(rapport.url, 'POST', path, limit + 1, form)).status, 413)
  const fits = new URLSearchParams({ message: 'a'.repeat(limit - 8) })
  const reply = await fetch(`${rapport.url}/book/demo`, { method: 'POST', body: fits })
  assert.equal(reply.status, 422)
})

test('an open route is limited by client address before its body is read: 429 with Retry-After', async (t) => {
  const clock = turnableClock()
  const env = { OPEN_RATE_PER_SECOND: '1', TRUSTED_PROXIES: '127.0.0.0/8' }
  const limited = await startRapport({ clock, env })
  t.after(() => limited.close())
  for (const [index, { method, path }] of open.entries()) {
    const from = (last: number) => `X-Forwarded-For: 203.0.${index}.${last}`
    const ask = (address: number) => answerToHead(limited.url, method, path, limit + 1, json, from(address))
    for (const status of [413, 413, 429]) assert.equal((await ask(1)).status, status, path)
    refused(await ask(1), 429, 'rate_limited')
    assert.equal((await ask(2)).status, 413, 'another address is limited too')
    // A request with a key has its own limit.
    assert.equal((await limited.call('GET', '/api/v1/contacts')).status, 200)
  }
  clock.advance(1000)
  const [first] = open
  const again = await answerToHead(
    limited.url,
    'POST',
    String(first?.path),
    limit + 1,
    json,
    'X-Forwarded-For: 203.0.0.1',
  )
  assert.equal(again.status, 413)
})

test('by default an address may sign in 20 times at once; 0 lifts the limit', async (t) => {
  for (const [rate, allowed] of [
    ['', 20],
    ['0', 30],
  ] as const) {
    const service = await startRapport({ clock: turnableClock(), env: { OPEN_RATE_PER_SECOND: rate } })
    t.after(() => service.close())
    const asked = Array.from({ length: 30 }, () => fetch(`${service.url}/api/v1/setup`))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, allowed)
    assert.equal(statuses.filter((status) => status === 429).length, 30 - allowed)
  }
})

test('every other operation refuses an unknown key with 401 before its body is read, and takes 1 MiB from a known one, 8 MiB for a batch', async () => {
  assert.ok(keyed.length > 40)
  for (const operation of keyed) {
    const { method, caller } = operation
    const path = pathOf(operation)
    const mebibyte = 2 ** 20
    for (const shown of ['Authorization: Bearer crm_unknown', 'Cookie: rapport_session=unknown', 'X-None: 1'])
      refused(await answerToHead(rapport.url, method, path, mebibyte, json, shown), 401, 'unauthorized')
    const key = `Authorization: Bearer ${rapport.key}`
    // A batch has a limit of its own (contract: batch).
    const most = path.endsWith('/batch') ? 8 * mebibyte : mebibyte
    const over = await answerToHead(rapport.url, method, path, most + 1, json, key)
    if (caller === 'person') refused(over, 403, 'forbidden')
    else refused(over, 413, 'payload_too_large')
  }
})
