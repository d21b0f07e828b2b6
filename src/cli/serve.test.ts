// runs: source
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { client } from '../../test/harness.ts'
import { cannotGive, nobody } from '../../test/other-user.ts'
import { firstKey, runRapport, scratchFolder, serveProcess } from '../../test/process.ts'

// The PostgreSQL of the tests writes nothing through to the disk, and the service warns of that.
const warning = /^\{"level".*PostgreSQL runs with .*\n/gm

test('the first start in a log names the file of a key that works, a curl that creates a contact, and the docs page', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const first = await serveProcess(t, { DATA_DIR })
  const output = first.output()
  assert.ok(!output.includes('crm_'), 'a log keeps its lines')
  const file = join(DATA_DIR, 'first-api-key.txt')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const shell = (line: string) => execFileSync('sh', ['-c', line], { encoding: 'utf8', stdio: 'pipe' })
  const [, read = ''] = /^Your first API key is in .*\. To read it:\n {2}(.*)$/m.exec(output) ?? []
  const key = shell(read).trim()
  assert.match(key, /^crm_\w{43}$/)
  const [line = ''] = /^ {2}curl .*$/m.exec(output) ?? []
  assert.equal(JSON.parse(shell(line)).data.first_name, 'Ada')
  assert.equal((await client(first.url, key)('GET', '/api/v1/contacts')).body.meta.total, 1)
  const [, docs = ''] = /(http\S+\/docs)/.exec(output) ?? []
  assert.equal((await fetch(docs)).status, 200)
  assert.equal(await first.stop(), 0)

  const second = await serveProcess(t, { DATA_DIR })
  // The key is shown once; the link for the first account as long as there is none.
  const [greeting, , link, ...rest] = second
    .output()
    .replace(/^Building .*\n/, '')
    .replaceAll(warning, '')
    .split('\n')
  assert.deepEqual([greeting, rest], [`Rapport serves ${second.url}`, ['']])
  assert.match(String(link), /^Open http:\S+\/setup#[\w-]{43} to create your account$/)
  assert.equal((await client(second.url, key)('GET', '/api/v1/contacts')).body.meta.total, 1)
  assert.equal(await second.stop(), 0)
})

test('a folder that takes no file of the key does not lose it: the start prints the key', async (t) => {
  const DATA_DIR = scratchFolder(t)
  mkdirSync(join(DATA_DIR, 'first-api-key.txt'))
  const { url, output } = await serveProcess(t, { DATA_DIR })
  const [, key = ''] =
    /^Your first API key \(shown this once, keep it\):\n {2}(crm_\w{43})$/m.exec(output()) ?? []
  assert.equal((await client(url, key)('GET', '/api/v1/contacts')).status, 200)
})

test('the files of a first start as root belong to the owner of the folder, so that the service can open them', {
  skip: cannotGive(),
}, async (t) => {
  const DATA_DIR = scratchFolder(t)
  chownSync(DATA_DIR, nobody.uid, nobody.gid)
  await serveProcess(t, { DATA_DIR })
  const names = readdirSync(DATA_DIR)
  for (const name of ['secret.key', 'first-api-key.txt']) assert.ok(names.includes(name), name)
  for (const name of names) {
    const { uid, gid } = statSync(join(DATA_DIR, name))
    assert.deepEqual({ uid, gid }, nobody, name)
  }
})

test('a key made or revoked by the command line counts in the running server within a second', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const server = await serveProcess(t, { DATA_DIR })
  const { last: key } = await runRapport(['keys', 'create', '--name', 'New'], { DATA_DIR })
  const call = client(server.url, key)
  assert.equal((await call('GET', '/api/v1/contacts')).status, 200)

  const { last: row } = await runRapport(['keys', 'list'], { DATA_DIR })
  const revoked = await runRapport(['keys', 'revoke', row.split(' ')[0] ?? ''], { DATA_DIR })
  assert.equal(revoked.code, 0)
  const deadline = performance.now() + 1000
  let status: number
  let asked: number
  do {
    await new Promise((resolve) => setTimeout(resolve, 20))
    asked = performance.now()
    status = (await call('GET', '/api/v1/contacts')).status
  } while (status === 200 && asked < deadline)
  assert.equal(status, 401)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`${signal} lets the request in flight finish, and exits with 0`, async (t) => {
    const DATA_DIR = scratchFolder(t)
    const server = await serveProcess(t, { DATA_DIR })
    const request = await halfRequest(server, firstKey(DATA_DIR))
    server.signal(signal)
    await refused(server.url)
    request.finish()
    assert.match(await request.answer, /^HTTP\/1\.1 201 /)
    assert.equal(await server.exited, 0)
  })

test('the same signal twice at once is one, and a second one later exits at once with 1', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const server = await serveProcess(t, { DATA_DIR })
  await halfRequest(server, firstKey(DATA_DIR))
  server.signal('SIGINT')
  await new Promise((resolve) => setTimeout(resolve, 50))
  server.signal('SIGINT')
  await refused(server.url)
  await new Promise((resolve) => setTimeout(resolve, 600))
  server.signal('SIGINT')
  assert.equal(await server.exited, 1)
})

test('a port in use is reported in one line that names PORT, and exits with 1', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const { code, stdout, stderr } = await runRapport(['serve'], {
    DATA_DIR: scratchFolder(t),
    PORT: `${port}`,
  })
  assert.deepEqual([code, stdout.replaceAll(warning, '')], [1, ''])
  assert.match(stderr, new RegExp(`^rapport: Port ${port} .* PORT .*\\n$`))
})

test('a second start answers its first request after at most 1.5 s of work', async (t) => {
  const DATA_DIR = scratchFolder(t)
  await (await serveProcess(t, { DATA_DIR })).stop()
  const tries: string[] = []
  for (let is_fast = false; !is_fast; ) {
    const begun_ms = performance.now()
    const server = await serveProcess(t, { DATA_DIR })
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
    const took_ms = processorTime(server.pid) ?? performance.now() - begun_ms
    await server.stop()
    // A busy machine makes CPU time longer, too. So each try has a limit of its own.
    const most_ms = Math.max(1500, 3 * librariesTime())
    tries.push(`${took_ms} ms of ${most_ms}`)
    is_fast = took_ms < most_ms
    assert.ok(is_fast || tries.length < 5, tries.join())
  }
})

/** The CPU time that a process of its own takes to load the largest libraries, in milliseconds: more on a slow machine. */
function librariesTime(): number {
  const libraries = ['fastify', 'kysely', 'typebox', 'ajv', 'undici']
  const script = `${libraries.map((name) => `await import('${name}')`).join('\n')}
    const { user, system } = process.cpuUsage()
    console.log((user + system) / 1000)`
  return Number(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }),
  )
}

/** The CPU time of all threads of a process, in milliseconds. Only Linux has it in a file. */
function processorTime(pid: number): number | null {
  if (process.platform !== 'linux') return null
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
  const ticks_per_second = 100
  return ((user + system) * 1000) / ticks_per_second
}

/** Sends all of a request but its last byte; the server has begun to read it when this resolves. */
async function halfRequest({ url }: { url: string }, key: string) {
  const body = JSON.stringify({ name: 'In flight' })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /api/v1/companies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  await once(socket, 'data')
  socket.write(body.slice(0, -1))
  const answer = once(socket, 'data').then(([chunk]) => String(chunk))
  answer.catch(() => {})
  socket.on('error', () => {})
  return { finish: () => socket.write(body.slice(-1)), answer }
}

/** Resolves when the server takes no new connections. */
async function refused(url: string) {
  const { hostname, port } = new URL(url)
  for (;;) {
    const socket = connect(Number(port), hostname)
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (!open) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
