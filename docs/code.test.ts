// runs: once
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installClient } from '../client/package.ts'
import { type Rapport, startRapport } from '../test/harness.ts'
import { type Received, startReceiver } from '../test/receiver.ts'
import { register, until } from '../test/webhooks.ts'
import { blocksIn } from './blocks.ts'

// The blocks of the pages other than shell commands. Each program is checked by its types, then run.

const root = fileURLToPath(new URL('..', import.meta.url))
let installed: Awaited<ReturnType<typeof installClient>>
let service: Rapport
before(async () => {
  installed = await installClient()
  writeFileSync(join(installed.folder, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(installed.folder, 'node_modules/@octokit'))
  for (const name of ['@octokit/webhooks-methods', 'standardwebhooks'])
    symlinkSync(join(root, 'node_modules', name), join(installed.folder, 'node_modules', name))
  service = await startRapport()
})
after(async () => {
  await service?.close()
  installed?.remove()
})

/** The TypeScript of a page that contains a text. Each is used by a test below. */
const used = new Set<string>()
function programOf(page: string, containing: string): string {
  const found = blocksIn('ts').filter((block) => block.page === page && block.code.includes(containing))
  assert.equal(found.length, 1, `${page} has one block with ${containing}`)
  const [{ code } = { code: '' }] = found
  used.add(page + code)
  return code
}

/** Writes a program beside the installed client, and checks its types in strict mode. */
function write(name: string, code: string): string {
  const file = join(installed.folder, name)
  writeFileSync(file, code)
  const options = {
    target: 'esnext',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const config = join(installed.folder, 'tsconfig.json')
  writeFileSync(config, JSON.stringify({ compilerOptions: options, files: [name] }))
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
  try {
    execFileSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8' })
  } catch (error) {
    assert.fail(`${name}: ${(error as { stdout: string }).stdout}`)
  }
  return file
}

/** A request that Rapport has sent, with the secret of its webhook. */
async function delivered(events: string[], cause: () => Promise<unknown>) {
  const receiver = await startReceiver()
  try {
    const { secret } = await register(service.call, { url: receiver.url, events })
    await cause()
    const [request] = await receiver.waitFor(1)
    return { secret: secret as string, request: request as Received }
  } finally {
    await receiver.close()
  }
}
const company = (name: string) => service.call('POST', '/api/v1/companies', { name })

test('the client of the feed misses no event in a restart, and repeats at most the one under way', async (t) => {
  const file = write('follow.ts', programOf('events-feed.md', 'place.txt'))
  const seen: string[] = []
  function follow() {
    const child = spawn(process.execPath, [file], {
      cwd: installed.folder,
      env: { API: `${service.url}/api/v1`, KEY: service.key },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    createInterface({ input: child.stdout }).on('line', (line) => {
      // Not the name of who made it.
      const [, name] = /^ {4}name: '(Company \d+|While it was stopped)'/.exec(line) ?? []
      if (name) seen.push(name)
    })
    return child
  }
  const wait = (name: string) =>
    until(
      async () => seen,
      (names) => names.includes(name),
    )
  const placed = () =>
    until(
      async () => readPlace(),
      (place) => place !== '',
    )
  const readPlace = () => {
    try {
      return readFileSync(join(installed.folder, 'place.txt'), 'utf8')
    } catch {
      return ''
    }
  }
  const made: string[] = []
  const make = async (name: string) => {
    await company(name)
    made.push(name)
  }
  // Without a place, the stream begins at the present end.
  const first = follow()
  for (let number = 1; !seen.length; number++) {
    await make(`Company ${number}`)
    await pause(50)
  }
  await placed()
  first.kill('SIGKILL')
  await once(first, 'close')
  const before = [...seen]
  await make('While it was stopped')
  follow()
  await wait('While it was stopped')
  const after = seen.slice(before.length)
  // Without the one under way, if it came again: its place may not have been written.
  if (after[0] === before.at(-1)) after.shift()
  assert.deepEqual([...before, ...after], made.slice(made.indexOf(String(before[0]))))
})

test('the check of a signature accepts a delivery, and refuses a changed body and a missing header', async () => {
  const file = write(
    'genuine.ts',
    `${programOf('receiving-webhooks.md', 'timingSafeEqual')}\nexport { isGenuine }\n`,
  )
  const { isGenuine } = await import(pathToFileURL(file).href)
  const { secret, request } = await delivered(['company.created'], () => company('Señalética'))
  const header = request.headers['x-service-signature']
  const body = Buffer.from(request.body)
  assert.equal(isGenuine(secret, body, header), true)
  assert.equal(isGenuine(secret, Buffer.concat([body, Buffer.from(' ')]), header), false)
  assert.equal(isGenuine(secret, body), false)
})

test('the libraries of others verify a delivery as the page shows it, with headers of Node and of Fetch', async () => {
  const isImport = (line: string) => line.startsWith('import ')
  const node = programOf('receiving-webhooks.md', 'standardwebhooks').split('\n')
  const fetched = programOf('receiving-webhooks.md', 'Object.fromEntries(request.headers)').split('\n')
  const { secret, request } = await delivered(['company.created'], () => company('Libraries'))
  const headers = new Headers(request.headers as Record<string, string>)
  const cases = [
    ['node', node, 'Record<string, string>', request.headers],
    ['fetch', fetched, 'Headers', headers],
  ] as const
  for (const [name, lines, type, given] of cases) {
    const steps = lines.filter((line) => !isImport(line)).join('\n')
    const file = write(
      `libraries-${name}.ts`,
      `${node.filter(isImport).join('\n')}
export async function check(secret: string, rawText: string, request: { headers: ${type} }) {
  ${steps.replace('await verify(', 'const genuine = await verify(')}
  return { genuine, event }
}\n`,
    )
    const { check } = await import(pathToFileURL(file).href)
    const { genuine, event } = await check(secret, request.body, { headers: given })
    assert.equal(genuine, true, name)
    assert.equal(event.data.name, 'Libraries', name)
  }
})

test('the receiver of won deals writes one invoice for a deal, also when a delivery arrives again', async () => {
  const prelude = `type Value = string | number | null
type Database = { transaction(work: (tx: { run(sql: string, ...values: Value[]): Promise<void> }) => Promise<void>): Promise<void> }
`
  const file = write('bill.ts', prelude + programOf('how-to-bill-won-deals.md', 'invoices'))
  const { receive } = await import(pathToFileURL(file).href)
  const { secret, request } = await delivered(['deal.won'], () =>
    service.call('POST', '/api/v1/deals', { name: 'Large', value: 1250.5, stage: 'won' }),
  )
  const sqlite = new DatabaseSync(':memory:')
  sqlite.exec('CREATE TABLE invoices (deal_id integer PRIMARY KEY, amount real)')
  const run = async (sql: string, ...values: (string | number | null)[]) =>
    void sqlite.prepare(sql).run(...values)
  const db = { transaction: (work: (tx: object) => Promise<void>) => work({ run }) }
  process.env.WEBHOOK_SECRET = secret
  const headers = request.headers as Record<string, string>
  const send = (body: string) =>
    receive(new Request('http://receiver.example', { method: 'POST', headers, body }), db)
  try {
    for (const _ of [1, 2]) assert.equal((await send(request.body)).status, 204)
    await assert.rejects(send(request.body.replace('1250.5', '9250.5')), { name: 'WebhookError' })
  } finally {
    delete process.env.WEBHOOK_SECRET
  }
  assert.deepEqual(
    sqlite
      .prepare('SELECT amount FROM invoices')
      .all()
      .map((row) => row.amount),
    [1250.5],
  )
})

test('every block of TypeScript is one that a test runs', () => {
  const others = blocksIn('ts').filter(({ page, code }) => !used.has(page + code))
  assert.deepEqual(
    others.map(({ page, code }) => `${page}: ${code.split('\n')[0]}`),
    [],
  )
})

test('every block of JSON is valid, and has only names that the API has', () => {
  const blocks = blocksIn('json')
  assert.ok(blocks.length >= 4)
  const known = readFileSync(new URL('openapi.json', import.meta.url), 'utf8')
  // Names of settings of other programs.
  const others = ['mcpServers', 'rapport', 'Authorization', 'reason', 'left', 'restored']
  for (const { page, code } of blocks) {
    // An ellipsis outside of a text stands for further members.
    const whole = code.replaceAll(/,\s*…/g, '')
    const names = new Set<string>()
    const addName = (name: string, value: unknown) => {
      if (Number.isNaN(Number(name))) names.add(name)
      return value
    }
    assert.doesNotThrow(() => JSON.parse(whole, addName), `${page}: ${whole}`)
    const unknown = [...names].filter(
      (name) => name && !others.includes(name) && !known.includes(`"${name}"`),
    )
    assert.deepEqual(unknown, [], page)
  }
})
