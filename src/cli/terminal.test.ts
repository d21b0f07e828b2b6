// runs: once
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { startRapport, useRapport } from '../../test/harness.ts'
import { main, scratchFolder, serveProcess } from '../../test/process.ts'
import { runRapport } from '../../test/run-rapport.ts'
import { company, until } from '../../test/webhooks.ts'

const rapport = useRapport()

// Sets the title of a window, clears the screen, forges a line, reverses the order of letters.
const hostile = '\x1b]0;x\x07\x1b[2J\u009b31m\x7f\rok\u202egnp\nforged'
const controls = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u

type Run = Awaited<ReturnType<typeof runRapport>>

function assertPlain({ stdout, stderr }: Omit<Run, 'last' | 'code'>) {
  const output = stdout + stderr
  assert.doesNotMatch(output, controls)
  assert.match(output, /\\u001b\]0;x\\u0007\\u001b\[2J\\u009b31m\\u007f\\u000dok\\u202egnp/)
  assert.doesNotMatch(output, /^forged/m)
}

async function serveWith(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('control characters of the database reach no terminal, in any command that lists', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startRapport({ data_dir })
  await service.close()
  const db = new DatabaseSync(join(data_dir, 'rapport.db'))
  for (const [table, column] of [
    ['workspaces', 'name'],
    ['api_keys', 'name'],
  ])
    db.prepare(`UPDATE ${table} SET ${column} = ?`).run(hostile)
  db.prepare(
    `INSERT INTO users (id, name, email, email_key, password_hash, created_at, updated_at)
      VALUES ('usr_1', ?, ?, ?, '', '', '')`,
  ).run(hostile, hostile, hostile)
  db.close()
  for (const words of [
    ['workspaces', 'list'],
    ['keys', 'list'],
    ['people', 'list'],
    ['keys', 'create', '--name', 'x', '--workspace', '99'],
    ['people', 'delete', 'usr_1'],
    ['people', 'delete', hostile],
    [hostile],
  ])
    assertPlain(await runRapport(words, { DATA_DIR: data_dir }))
})

test('control characters of a server reach no terminal: messages, names, rows of an import, states', async (t) => {
  const folder = scratchFolder(t)
  const file = join(folder, 'x.csv')
  writeFileSync(file, 'name\nx\n')
  const counts = { rows_read: 1, created: 0, updated: 0, skipped: 0, failed: 1, progress: 1 }
  const RAPPORT_URL = await serveWith(t, (request, response) => {
    const { url = '', method } = request
    request.resume()
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (url.includes('/export')) return answer(422, { error: { message: hostile, fields: [] } })
    if (url.endsWith('/errors')) return response.end(`row,field\r\n3,${hostile}\r\n`)
    if (url.includes('/webhooks')) return answer(200, { data: [{ id: 'wh_1', name: hostile, events: [] }] })
    if (method !== 'POST') return answer(500, {})
    const status = url.includes('resource=deals') ? hostile : 'succeeded'
    answer(202, { data: { id: 'imp_1', kinds: [], message: null, status, ...counts } })
  })
  const env = { DATA_DIR: folder, HOME: folder, RAPPORT_URL, RAPPORT_API_KEY: 'key' }
  for (const words of [
    ['export', 'contacts', join(folder, 'out.csv')],
    ['import', 'contacts', file],
    ['import', 'deals', file],
    ['listen', '--forward', 'http://127.0.0.1:9/', '--webhook', 'none'],
  ])
    assertPlain(await runRapport(words, env))
})

test('a doctor’s report as JSON keeps what it says', async (t) => {
  const { stdout } = await runRapport(['doctor', '--json'], {
    DATA_DIR: scratchFolder(t),
    WEBHOOK_ALLOWED_NETWORKS: hostile,
  })
  assert.doesNotMatch(stdout, controls)
  const [finding] = JSON.parse(stdout).findings
  assert.ok(finding.message.includes('\u009b31m'), stdout)
})

test('control characters of a client reach no log', async (t) => {
  const { url, output } = await serveProcess(t, { DATA_DIR: scratchFolder(t), LOG_LEVEL: 'info' })
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  socket.write('GET /readyz HTTP/1.1\r\nHost: x\x9b31m\r\nConnection: close\r\n\r\n', 'latin1')
  await once(socket.resume(), 'close')
  await until(
    async () => output(),
    (text) => text.includes('/readyz'),
  )
  assert.doesNotMatch(output(), controls)
})

const script = '/usr/bin/script'

test('an export to a terminal shows control characters as text; one to a pipe or a file has them as they are', {
  skip: !existsSync(script) && 'this system has no program that makes a terminal',
}, async (t) => {
  const folder = scratchFolder(t)
  const name = 'A\x1b[2JB'
  await company(rapport.call, name)
  const env = { PATH: process.env.PATH, RAPPORT_URL: rapport.url, RAPPORT_API_KEY: rapport.key }
  const command = `${process.execPath} ${main} export companies`
  const shown = spawn(script, ['-qec', `${command} /dev/tty`, '/dev/null'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const part of shown.stdout.setEncoding('utf8')) text += part
  assert.ok(text.includes('A\\u001b[2JB'), text)
  assert.ok(!text.includes('\x1b[2J'))
  const file = join(folder, 'out.csv')
  const piped = spawn('sh', ['-c', `${command} /dev/stdout | cat > ${file}`], { env, stdio: 'inherit' })
  await once(piped, 'close')
  assert.ok(readFileSync(file, 'utf8').includes(name))
})
