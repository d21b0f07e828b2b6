// runs: once
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { certificate } from '../../../test/certificate.ts'
import { newWorkspace } from '../../../test/database.ts'
import { settingsOf } from '../../../test/engine.ts'
import { client, startRapport, useRapport } from '../../../test/harness.ts'
import { freePort } from '../../../test/ports.ts'
import { main, scratchFolder } from '../../../test/process.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { runRapport } from '../../../test/run-rapport.ts'
import { useFor } from '../../../test/use.ts'
import { company, register, until } from '../../../test/webhooks.ts'

const rapport = useRapport()

type Env = Record<string, string>

/** A listener in a process of its own, which has said that it is at its position in the feed. */
async function listen(t: TestContext, words: string[], env: Env) {
  const child = spawn(process.execPath, [main, 'listen', ...words], {
    env: { PATH: process.env.PATH, RAPPORT_URL: rapport.url, RAPPORT_API_KEY: rapport.key, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trimEnd().split('\n')))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  await until(
    async () => ({ lines, errors, code: child.exitCode }),
    ({ lines: said, code }) => said.some((line) => line.startsWith('Position')) || code !== null,
  )
  return {
    lines,
    errors: () => errors,
    async end(signal: 'SIGINT' | 'SIGKILL') {
      child.kill(signal)
      return (await ended)[0]
    },
    ended,
  }
}
type Listener = Awaited<ReturnType<typeof listen>>

const stateFiles = (home: string): string[] => {
  const folder = join(home, '.local/state/rapport')
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

async function startReceiving(t: TestContext, options: Parameters<typeof startReceiver>[0] = {}) {
  const receiver = await useFor(t, startReceiver(options))
  return receiver
}

const secretOf = ({ lines }: Listener) =>
  lines.map((line) => /^Signing secret: (\S+)$/.exec(line)?.[1]).find(Boolean) ?? ''
const bodies = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body))
const names = (receiver: Receiver) => bodies(receiver).map(({ data }) => data.name)
const idOf = ({ headers }: Receiver['received'][number]) => String(headers['x-service-delivery'])

test('events arrive in order, signed as a webhook signs, and each has one line; SIGINT ends with 0', async (t) => {
  const receiver = await startReceiving(t)
  const HOME = scratchFolder(t)
  const listener = await listen(t, ['--forward', receiver.url, '--events', 'company.*,deal.won'], { HOME })
  await rapport.call('POST', '/api/v1/contacts', { first_name: 'Not', last_name: 'Wanted' })
  // U+2028 ends a line for some parsers, not in a stream of events.
  const sent = ['One', 'Two 山 "quoted"\u2028data: {}', 'Three']
  for (const name of sent) await company(rapport.call, name)
  await receiver.waitFor(3)
  assert.deepEqual(names(receiver), sent)
  await receiver.verify(secretOf(listener))
  const [first] = receiver.received
  const [event] = bodies(receiver)
  assert.deepEqual([event.event, event.webhook_id], ['company.created', 'wh_listen'])
  assert.equal(first?.headers['x-service-event'], 'company.created')
  const feed = await rapport.call('GET', '/api/v1/events?event=company.created&sort=-timestamp&per_page=3')
  const { webhook_id: _, ...rest } = bodies(receiver).at(-1)
  assert.deepEqual(rest, feed.body.data[0])
  const told = await until(
    async () => listener.lines.filter((line) => / company\.created dlv_\w{32} 200 in \d+ ms$/.test(line)),
    (told) => told.length === 3,
  )
  assert.ok(told[0]?.includes(idOf(first as never)))
  const [file = ''] = stateFiles(HOME)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(await listener.end('SIGINT'), 0)
})

test('when it says that it forwards, its position is kept: a later event is sent', async (t) => {
  const HOME = scratchFolder(t)
  const receiver = await startReceiving(t)
  const child = spawn(process.execPath, [main, 'listen', '--forward', receiver.url], {
    env: { PATH: process.env.PATH, RAPPORT_URL: rapport.url, RAPPORT_API_KEY: rapport.key, HOME },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [said] = await once(child.stdout, 'data')
  assert.deepEqual([/^Forwarding /.test(said), stateFiles(HOME).length], [true, 1])
  await company(rapport.call, 'At once')
  await receiver.waitFor(1)
})

test('after its own end it goes on without a gap, with the same secret', async (t) => {
  const receiver = await startReceiving(t)
  const env = { HOME: scratchFolder(t) }
  const words = ['--forward', receiver.url, '--events', 'company.created']
  const first = await listen(t, words, env)
  await company(rapport.call, 'Before')
  await receiver.waitFor(1)
  assert.equal(await first.end('SIGINT'), 0)
  for (const name of ['While', 'It', 'Was', 'Away']) await company(rapport.call, name)
  const second = await listen(t, words, env)
  await receiver.waitFor(5)
  assert.deepEqual(names(receiver), ['Before', 'While', 'It', 'Was', 'Away'])
  await receiver.verify(secretOf(second))
  assert.equal(await second.end('SIGINT'), 0)
})

test('an event in flight at a kill arrives again, with the id of the first time', async (t) => {
  const receiver = await startReceiving(t, { answer: 'hang' })
  const env = { HOME: scratchFolder(t) }
  const words = ['--forward', receiver.url, '--events', 'company.created']
  const first = await listen(t, words, env)
  await company(rapport.call, 'Twice')
  await company(rapport.call, 'Once')
  await receiver.waitFor(1)
  await first.end('SIGKILL')
  receiver.answering = () => ({ status: 200 })
  await listen(t, words, env)
  await receiver.waitFor(3)
  assert.deepEqual(names(receiver), ['Twice', 'Twice', 'Once'])
  const [one, two, three] = receiver.received.map(idOf)
  assert.equal(one, two)
  assert.notEqual(two, three)
})

test('it repeats while the target cannot be reached or answers with an error, and keeps the order', async (t) => {
  const port = await freePort()
  const env = { HOME: scratchFolder(t) }
  const words = ['--forward', `http://127.0.0.1:${port}/hook`, '--events', 'company.created']
  const listener = await listen(t, words, env)
  for (const name of ['One', 'Two']) await company(rapport.call, name)
  await until(
    async () => listener.lines,
    (lines) => lines.some((line) => /connection_refused in .*, next attempt in 1 s: /.test(line)),
  )
  const answer = (_: unknown, number: number) => ({ status: number === 1 ? 503 : 200 })
  const receiver = await startReceiving(t, { port, answer })
  await receiver.waitFor(3)
  assert.deepEqual(names(receiver), ['One', 'One', 'Two'])
  assert.ok(listener.lines.some((line) => / 503 in \d+ ms, next attempt in 1 s$/.test(line)))
})

test('it follows a service that restarts', async (t) => {
  const data_dir = scratchFolder(t)
  const PORT = String(await freePort())
  const before = await startRapport({ data_dir, env: { PORT } })
  const receiver = await startReceiving(t)
  const env = { HOME: scratchFolder(t), RAPPORT_URL: before.url, RAPPORT_API_KEY: before.key }
  const listener = await listen(t, ['--forward', receiver.url], env)
  await company(before.call, 'Before')
  await receiver.waitFor(1)
  await before.close()
  const again = await startRapport({ data_dir, env: { PORT } })
  t.after(() => again.close())
  await company(client(again.url, before.key), 'After')
  await receiver.waitFor(2)
  assert.deepEqual(names(receiver), ['Before', 'After'])
  assert.equal(await listener.end('SIGINT'), 0)
})

test('a webhook lends its events and its secret, which is read beside the service or given', async (t) => {
  const receiver = await startReceiving(t)
  const call = await newWorkspace(rapport)
  const { body } = await call('POST', '/api/v1/keys', { name: 'Listener' })
  const { id, secret } = await register(call, {
    name: 'Mirror',
    url: 'http://127.0.0.1:9/hook',
    events: ['deal.*'],
  })
  const { DATA_DIR, DATABASE_URL = '' } = await settingsOf(rapport.data_dir)
  const words = ['--forward', receiver.url, '--webhook', 'Mirror']
  const key = { RAPPORT_API_KEY: body.data.token }
  const own = { HOME: scratchFolder(t), ...key, DATA_DIR, DATABASE_URL }
  const listener = await listen(t, words, own)
  await company(call)
  await call('POST', '/api/v1/deals', { name: 'First' })
  await receiver.waitFor(1)
  assert.equal(bodies(receiver)[0].webhook_id, id)
  await receiver.verify(secret)
  assert.ok(!listener.lines.join().includes(secret), 'the secret of a webhook is not printed')
  await listener.end('SIGINT')

  const elsewhere = { HOME: scratchFolder(t), ...key, DATA_DIR: scratchFolder(t) }
  const refused = await listen(t, words, elsewhere)
  assert.equal((await refused.ended)[0], 1)
  assert.match(refused.errors(), /does not show the secret of webhook wh_.*RAPPORT_WEBHOOK_SECRET/)
  assert.deepEqual(readdirSync(elsewhere.DATA_DIR), [])
  await listen(t, [...words.slice(0, 3), id], { ...elsewhere, RAPPORT_WEBHOOK_SECRET: secret })
  await call('POST', '/api/v1/deals', { name: 'Second' })
  await receiver.waitFor(2)
  await receiver.verify(secret)
  const unknown = await listen(t, [...words.slice(0, 3), 'Mirrors'], elsewhere)
  await unknown.ended
  assert.match(unknown.errors(), /no webhook Mirrors\. They are: wh_\w+ \(Mirror\)/)
})

test('wrong events, addresses and keys are refused in one line', async (t) => {
  const env = { DATA_DIR: scratchFolder(t), HOME: scratchFolder(t), RAPPORT_URL: rapport.url }
  const run = (words: string[], RAPPORT_API_KEY = rapport.key) =>
    runRapport(['listen', ...words], { ...env, RAPPORT_API_KEY })
  const target = ['--forward', 'http://127.0.0.1:9/hook']
  const wrong = await run([...target, '--events', 'deal.wonn'])
  assert.deepEqual([wrong.code, /no event "deal\.wonn"\. .*deal\.won/.test(wrong.stderr)], [2, true])
  const metadata = await run(['--forward', 'http://169.254.169.254/'])
  assert.deepEqual([metadata.code, /--forward is not allowed/.test(metadata.stderr)], [2, true])
  const unknown = await run(target, 'crm_wrong')
  assert.deepEqual([unknown.code, /API key/.test(unknown.stderr)], [1, true])
  assert.match((await run(target, '')).stderr, /RAPPORT_API_KEY is missing/)
})

test('a position that the service does not have is refused with what to do', async (t) => {
  const env = { DATA_DIR: scratchFolder(t), HOME: scratchFolder(t), RAPPORT_URL: rapport.url }
  const file = join(env.HOME, 'state.json')
  writeFileSync(file, '{"cursor":"999999999","secret":"whsec_AAAAAAAAAAAAAAAA"}')
  const words = ['listen', '--forward', 'http://127.0.0.1:9/hook', '--state', file]
  const ahead = await runRapport(words, { ...env, RAPPORT_API_KEY: rapport.key })
  assert.deepEqual([ahead.code, ahead.stderr.includes(file)], [1, true])
  for (const text of [
    '{"cursor":',
    'null',
    '{"cursor":"1\\n2","secret":"whsec_AAAAAAAAAAAAAAAA"}',
    '{"cursor":"1","secret":""}',
  ]) {
    writeFileSync(file, text)
    const damaged = await runRapport(words, { ...env, RAPPORT_API_KEY: rapport.key })
    assert.match(damaged.stderr, /is damaged\. Delete it/, text)
  }
  const folder = [...words.slice(0, -1), env.HOME]
  const { code, stderr } = await runRapport(folder, { ...env, RAPPORT_API_KEY: rapport.key })
  assert.deepEqual([code, stderr.includes(`${env.HOME} cannot be read`)], [1, true])
  for (const nowhere of ['/proc/state.json', '/proc/none/state.json']) {
    const ended = await runRapport([...words.slice(0, -1), nowhere], { ...env, RAPPORT_API_KEY: rapport.key })
    assert.deepEqual(
      [ended.code, ended.stderr.includes(`rapport: ${nowhere} cannot be written: `)],
      [1, true],
    )
    assert.match(ended.stderr, /ENOENT/)
  }
})

test('an address that answers something else than events is named, and asked again', async (t) => {
  const page = await useFor(t, startReceiver({ answer: { body: '<html></html>' } }))
  const env = { HOME: scratchFolder(t), RAPPORT_URL: new URL(page.url).origin }
  const words = ['listen', '--forward', 'http://127.0.0.1:9/hook']
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH, RAPPORT_API_KEY: rapport.key, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  await page.waitFor(2)
  const [said] = await once(child.stderr, 'data')
  assert.match(String(said), /answered without a stream of events.* RAPPORT_URL\. Trying again\./)
})

test('a target with a certificate of WEBHOOK_CA_FILE gets the events', async (t) => {
  const pair = certificate({ ip: [127, 0, 0, 1] }, Date.now() - 60_000, Date.now() + 3_600_000)
  const arrived = Promise.withResolvers<void>()
  const target = createServer(pair, (request, response) => {
    request.resume().on('end', () => response.end())
    arrived.resolve()
  }).listen(0, '127.0.0.1')
  await once(target, 'listening')
  t.after(() => target.close().closeAllConnections())
  const HOME = scratchFolder(t)
  const WEBHOOK_CA_FILE = join(HOME, 'ca.pem')
  writeFileSync(WEBHOOK_CA_FILE, pair.cert)
  const url = `https://127.0.0.1:${(target.address() as AddressInfo).port}/`
  const { lines } = await listen(t, ['--forward', url], { HOME, WEBHOOK_CA_FILE })
  await company(rapport.call, 'By TLS')
  await until(
    async () => lines.find((line) => line.includes('company.created')),
    (line) => line !== undefined,
  ).then((line) => assert.match(String(line), / 200 in /))
  await arrived.promise
})
