import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makePage, visitor } from '../booking.ts'
import { startRapport, turnableClock } from '../harness.ts'

const clock = turnableClock()

test('above its limit an address gets a page that says when to try again, and other addresses are not limited', async (t) => {
  const env = { BOOKING_RATE_PER_SECOND: '3', TRUSTED_PROXIES: '127.0.0.0/8' }
  const rapport = await startRapport({ clock, env })
  t.after(() => rapport.close())
  await makePage(rapport)
  const from = (address: string) => visitor(rapport.url, { 'x-forwarded-for': address })
  const statuses = async (address: string, count: number) => {
    const answers = []
    for (let i = 0; i < count; i++) answers.push((await from(address).get('/book/demo')).status)
    return answers
  }
  assert.deepEqual(await statuses('203.0.113.1', 8), [200, 200, 200, 200, 200, 200, 429, 429])
  const refused = await from('203.0.113.1').post('/book/demo', { slot: 'x' })
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.match(refused.text, /<h1>One moment, please<\/h1>/)
  const program = await from('203.0.113.1').get('/book/demo/slots')
  assert.equal(JSON.parse(program.text).error.code, 'rate_limited')
  // The browser can load the style of this page.
  const [, style = ''] = /href="(\/book\/_\/[^"]+)"/.exec(refused.text) ?? []
  assert.equal((await from('203.0.113.1').get(style)).status, 200)

  assert.deepEqual(await statuses('203.0.113.2', 1), [200])
  // One subscriber's network is one; the next one is another.
  assert.deepEqual(await statuses('2001:db8:1:2::1', 6), Array(6).fill(200))
  assert.deepEqual(await statuses('2001:db8:1:ff:ffff::9', 1), [429])
  assert.deepEqual(await statuses('[2001:db8:1:2::7]:443', 1), [429])
  assert.deepEqual(await statuses('2001:db8:1:100::1', 1), [200])
  // Of several addresses the last that no trusted proxy has counts: a visitor may have sent the ones before.
  assert.deepEqual(await statuses('198.51.100.9, 203.0.113.1, 127.0.0.5', 1), [429])
  // Some proxies add the port, which differs in each request. Invalid addresses share one limit.
  const ports = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((i) => statuses(`203.0.113.9:${4000 + i}`, 1)))
  assert.equal(ports.flat().filter((status) => status === 429).length, 1)
  assert.deepEqual(await statuses('203.0.113.1, 127.0.0.5:99', 1), [429])
  const words = ['unknown', 'garbage', '"><b>', '_secret', ',', '1.2.3.4.5', '::g']
  const nobodys = await Promise.all(words.map((word) => statuses(word, 1)))
  assert.equal(nobodys.flat().filter((status) => status === 429).length, 1)
  assert.equal((await rapport.call('GET', '/api/v1/contacts')).status, 200)
  clock.advance(1000)
  assert.deepEqual(await statuses('203.0.113.1', 4), [200, 200, 200, 429])
})

test('an address that somebody else than a trusted proxy tells is not believed', async (t) => {
  const rapport = await startRapport({
    clock,
    env: { BOOKING_RATE_PER_SECOND: '1', TRUSTED_PROXIES: '10.0.0.0/8' },
  })
  t.after(() => rapport.close())
  await makePage(rapport)
  const answers = []
  for (let i = 0; i < 3; i++) {
    const headers = { 'x-forwarded-for': `203.0.113.${i}`, 'x-forwarded-host': 'evil.example' }
    answers.push((await visitor(rapport.url, headers).get('/book/demo')).status)
  }
  assert.deepEqual(answers, [200, 200, 429])
})

test('by default an address may ask ten times at once; 0 lifts the limit', async (t) => {
  for (const [rate, allowed] of [
    ['', 10],
    ['0', 30],
  ] as const) {
    const rapport = await startRapport({ clock, env: { BOOKING_RATE_PER_SECOND: rate } })
    t.after(() => rapport.close())
    await makePage(rapport)
    const { get } = visitor(rapport.url)
    const answers = await Promise.all(Array.from({ length: 30 }, () => get('/book/demo')))
    assert.equal(answers.filter(({ status }) => status === 200).length, allowed)
  }
})
