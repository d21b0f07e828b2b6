// runs: once
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { useRapport } from '../../test/harness.ts'
import { main, scratchFolder } from '../../test/process.ts'
import { until } from '../../test/webhooks.ts'
import { runCommand } from './run.ts'

const rapport = useRapport()

async function run(words: string[], env: Record<string, string> = {}) {
  const lines: string[] = []
  const errors: string[] = []
  const code = await runCommand(words, {
    out: (line) => void lines.push(line),
    err: (line) => void errors.push(line),
    env: { RAPPORT_URL: rapport.url, RAPPORT_API_KEY: rapport.key, ...env },
  })
  return { code, lines, errors }
}

test('import and export on the command line go through the API', async (t) => {
  const folder = scratchFolder(t)
  const [file, out] = [join(folder, 'people.csv'), join(folder, 'out.csv')]
  writeFileSync(file, 'First Name,Last Name,Email\nAna,Ruiz,ana@acme.example\nBad,One,nothing\n')
  const imported = await run(['import', 'contacts', file, '--on-match', 'update'])
  assert.equal(imported.code, 1)
  assert.deepEqual(imported.lines, [
    'Imported 2 rows: 1 created, 0 updated, 0 skipped, 1 failed.',
    '6 values: 3 as they are, 0 in another form, 3 left out.',
  ])
  assert.match(imported.errors.join('\n'), /3,email,/)
  const tried = await run(['import', 'contacts', file, '--dry-run'])
  assert.deepEqual(tried.lines, [
    'Checked 2 rows: 1 created, 0 updated, 0 skipped, 1 failed. Nothing was written.',
    '6 values: 3 as they are, 0 in another form, 3 left out.',
  ])
  const exported = await run(['export', 'contacts', out, '--filters', 'search=ruiz'])
  assert.deepEqual([exported.code, exported.lines], [0, [`Wrote 1 row to ${out}.`]])
  assert.match(readFileSync(out, 'utf8'), /^id,first_name.*\r\n1,Ana,Ruiz,/)
  const archive = join(folder, 'all.tar.gz')
  assert.equal((await run(['export', 'workspace', archive])).code, 0)
  const whole = await run(['import', 'workspace', archive, '--dry-run'])
  assert.deepEqual(whole.lines, [
    'Checked 1 row: 1 created, 0 updated, 0 skipped, 0 failed. Nothing was written.',
    '  contacts: 1 row: 1 created, 0 updated, 0 skipped, 0 failed',
    'Members are not imported. Records whose owner is not a member here have no owner.',
  ])
})

test('the command line sends sheets and cards as what they are, and names the encoding of a file', async (t) => {
  const firms = join(scratchFolder(t), 'firms.csv')
  writeFileSync(firms, Buffer.from([...Buffer.from('name,address\nCyrillic '), 0xcf, 0xf0, 0x2c, 0x78]))
  const fixtures = fileURLToPath(new URL('../../test/fixtures/imports/', import.meta.url))
  const first = async (words: string[]) => (await run(['import', ...words])).lines[0]
  const made = (rows: string, counts: string) => `Imported ${rows}: ${counts}.`
  assert.equal(
    await first(['companies', firms, '--encoding', 'cp1251']),
    made('1 row', '1 created, 0 updated, 0 skipped, 0 failed'),
  )
  const [firm] = (await rapport.call('GET', '/api/v1/companies?search=cyrillic')).body.data
  assert.equal(firm.name, 'Cyrillic Пр')
  assert.equal(
    await first(['deals', join(fixtures, 'sheets/xlsxwriter.xlsx'), '--sheet', 'Deals', '--header-row', '1']),
    made('3 rows', '2 created, 0 updated, 0 skipped, 1 failed'),
  )
  assert.equal(
    await first(['contacts', join(fixtures, 'cards/four.vcf')]),
    made('2 rows', '2 created, 0 updated, 0 skipped, 0 failed'),
  )
})

test('an export without FILE goes to standard output, and all messages to standard error', async () => {
  const { status, body } = await rapport.call('POST', '/api/v1/contacts', {
    first_name: 'Pipe',
    last_name: 'Kováč',
  })
  assert.equal(status, 201)
  const env = { ...process.env, RAPPORT_URL: rapport.url, RAPPORT_API_KEY: rapport.key }
  const words = [main, 'export', 'contacts', '--filters', 'search=pipe']
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { env })
  assert.match(stdout, new RegExp(`^id,first_name[^\r\n]*\r\n${body.data.id},Pipe,Kováč,[^\r\n]*\r\n$`))
  assert.equal(stderr, 'Wrote 1 row to standard output.\n')
})

test('an import is followed to its end although the server is away or busy meanwhile', async (t) => {
  const file = join(scratchFolder(t), 'x.csv')
  writeFileSync(file, 'name\nx\n')
  const shown = {
    id: 'imp_1',
    progress: 0,
    kinds: [],
    rows_read: 1,
    created: 1,
    updated: 0,
    skipped: 0,
    failed: 0,
  }
  let polls = 0
  const server = createServer((request, response) => {
    const answer = (status: number, data: object) => response.writeHead(status).end(JSON.stringify({ data }))
    if (request.method === 'POST')
      return request.resume().on('end', () => answer(202, { ...shown, status: 'queued' }))
    polls++
    if (polls === 1) request.socket.destroy()
    else if (polls === 2) answer(503, {})
    else answer(200, { ...shown, status: 'succeeded' })
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const done = await run(['import', 'companies', file], { RAPPORT_URL: `http://127.0.0.1:${port}` })
  assert.deepEqual(done, {
    code: 0,
    lines: ['Imported 1 row: 1 created, 0 updated, 0 skipped, 0 failed.'],
    errors: [],
  })
  assert.equal(polls, 3)
})

test('a missing key, an unknown resource and an unreachable server are reported', async (t) => {
  const file = join(scratchFolder(t), 'x.csv')
  writeFileSync(file, 'name\nx\n')
  assert.match(
    (await run(['import', 'companies', file], { RAPPORT_API_KEY: '' })).errors[0] ?? '',
    /RAPPORT_API_KEY/,
  )
  assert.match((await run(['import', 'boats', file])).errors[0] ?? '', /resource must be one of/)
  for (const url of ['localhost:3000', '127.0.0.1', 'http://']) {
    const wrong = await run(['import', 'companies', file], { RAPPORT_URL: url })
    assert.equal(wrong.code, 1)
    assert.match(wrong.errors[0] ?? '', /RAPPORT_URL is ".*"\. It must be a URL such as http:/)
  }
  const away = await run(['import', 'companies', file], { RAPPORT_URL: 'http://127.0.0.1:9' })
  assert.match(away.errors[0] ?? '', /cannot be reached/)
})

test('a file that is missing or a folder is named before a request', async (t) => {
  const folder = scratchFolder(t)
  const file = join(folder, 'x.csv')
  for (const [path, problem] of [
    [folder, `${folder} is a folder. Give the path of a file.`],
    [file, `The file ${file} does not exist. Check the path.`],
  ] as const)
    assert.deepEqual(await run(['import', 'companies', path], { RAPPORT_URL: 'http://127.0.0.1:9' }), {
      code: 1,
      lines: [],
      errors: [`rapport: ${problem}`],
    })
})

// The first page of a process's memory cannot be read, also by the superuser.
const unreadable = '/proc/self/mem'

test('a file that cannot be read to its end is named, not the service', {
  skip: !existsSync(unreadable) && 'this system has no such file',
}, async () => {
  const { code, errors } = await run(['import', 'companies', unreadable])
  assert.equal(code, 1)
  assert.match(errors[0] ?? '', /^rapport: \/proc\/self\/mem cannot be read \(EIO: .*\)\.$/)
})

test('an export that breaks off leaves the earlier file, and none half written', async (t) => {
  const folder = scratchFolder(t)
  const file = join(folder, 'companies.csv')
  writeFileSync(file, 'earlier')
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': '100', 'x-total-count': '9' })
    response.write('id,name\r\n', () => response.destroy())
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { code, errors } = await run(['export', 'companies', file], {
    RAPPORT_URL: `http://127.0.0.1:${port}`,
  })
  assert.equal(code, 1)
  assert.match(errors.join('\n'), /The export broke off \(.*\)\. Run the command again\./)
  assert.deepEqual([readFileSync(file, 'utf8'), readdirSync(folder)], ['earlier', ['companies.csv']])
})

test('two exports to one file at once do not mix: each of them leaves its whole file, and the last one stays', async (t) => {
  const file = join(scratchFolder(t), 'out.csv')
  const begun = Promise.withResolvers<ServerResponse>()
  let requests = 0
  const server = createServer((_request, response) => {
    response.setHeader('x-total-count', '1')
    if (requests++) return void response.end('id\nshort\n')
    response.write('id\nlong, ')
    begun.resolve(response)
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const env = { RAPPORT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const first = run(['export', 'contacts', file], env)
  const answer = await begun.promise
  const written = () => readdirSync(dirname(file)).map((name) => statSync(join(dirname(file), name)).size)
  await until(
    async () => written(),
    ([size = 0]) => size > 0,
  )
  const second = await run(['export', 'contacts', file], env)
  assert.deepEqual([second.code, readFileSync(file, 'utf8')], [0, 'id\nshort\n'])
  answer.end('part 2\n')
  const { code, errors } = await first
  assert.deepEqual([code, errors, readFileSync(file, 'utf8')], [0, [], 'id\nlong, part 2\n'])
  assert.deepEqual(readdirSync(dirname(file)), ['out.csv'])
})

test('a stop of an export leaves no half-written file', { skip: process.platform === 'win32' }, async (t) => {
  const folder = scratchFolder(t)
  const server = createServer((_request, response) => {
    response.setHeader('x-total-count', '9')
    response.write('part 1\n')
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const RAPPORT_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { PATH: process.env.PATH, RAPPORT_URL, RAPPORT_API_KEY: 'key' }
  const words = [main, 'export', 'contacts', join(folder, 'out.csv')]
  const child = spawn(process.execPath, words, { env, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  await until(
    async () => readdirSync(folder),
    ({ length }) => length > 0,
  )
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [1, null])
  assert.deepEqual(readdirSync(folder), [])
})

test('an export to a folder is refused, and one to a device is written as it comes', async (t) => {
  const folder = scratchFolder(t)
  const refused = await run(['export', 'companies', folder])
  assert.deepEqual(refused.errors, [`rapport: ${folder} is a folder. Give the path of a file.`])
  const written = await run(['export', 'companies', '/dev/null'])
  assert.deepEqual([written.code, written.errors], [0, []])
})

test('a large file that the service refuses before its end is reported with the reason', async (t) => {
  const file = join(scratchFolder(t), 'large.csv')
  writeFileSync(file, `name\n${'x'.repeat(99)}\n`.repeat(400_000))
  for (const [key, why] of [
    ['crm_wrong', /API key/],
    [rapport.key, /resource must be one of/],
  ] as const) {
    const { code, errors } = await run(['import', 'boats', file], { RAPPORT_API_KEY: key })
    assert.equal(code, 1)
    assert.match(errors[0] ?? '', why)
  }
})
