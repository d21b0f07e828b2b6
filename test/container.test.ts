// runs: once
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { buildWebApp } from '../src/web/build.ts'

// No image can be built where the tests run: its last stage is laid out as the Dockerfile says, and its commands are run.

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')

const last_stage =
  read('Dockerfile')
    .replaceAll('\\\n', '')
    .split(/^FROM /m)
    .at(-1) ?? ''
const instructions = (name: string) =>
  [...last_stage.matchAll(new RegExp(`^${name} +(.*)$`, 'gm'))].map(([, rest = '']) => rest)
const commandOf = (name: string): string[] =>
  JSON.parse(/\[.*\]$/.exec(instructions(name)[0] ?? '')?.[0] ?? '[]')
const env = Object.fromEntries(
  instructions('ENV')
    .join(' ')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
)

const folder = mkdtempSync(join(tmpdir(), 'rapport-image-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function layOut(): Promise<string> {
  const app = join(folder, 'app')
  mkdirSync(app)
  const copied = instructions('COPY').filter((words) => !words.startsWith('--from='))
  for (const words of copied.map((rest) => rest.split(' '))) {
    const target = words.pop() as string
    // As COPY does: several files go into a folder, a folder's content takes the target's name.
    for (const word of words)
      cpSync(join(root, word), join(app, target.endsWith('/') ? join(target, word) : target), {
        recursive: true,
        filter: (path) => !path.endsWith('.test.ts'),
      })
  }
  // What an earlier stage has made.
  assert.ok(instructions('COPY').includes('--from=web /app/web/dist ./web/dist'))
  const web_folder = await buildWebApp(console.error)
  assert.ok(web_folder)
  cpSync(web_folder, join(app, 'web/dist/built'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'))
  return app
}

test('the files of the image are all that the server needs: it serves, is healthy, and stops at SIGTERM with 0', async () => {
  const app = await layOut()
  const placed = (words: string[]) => words.slice(1).map((word) => word.replace(/^\/app\//, `${app}/`))
  const server = spawn(process.execPath, placed([...commandOf('ENTRYPOINT'), ...commandOf('CMD')]), {
    cwd: app,
    env: { ...env, PORT: '0', DATA_DIR: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => server.kill('SIGKILL'))
  const exited = once(server, 'exit')
  const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string]
  const { port, hostname } = new URL(line.slice(line.indexOf('http')))
  assert.ok(port, line)
  assert.equal(env.HOST, '0.0.0.0', `a container is reached from outside, not by ${hostname}`)
  const healthy = () =>
    new Promise<boolean>((resolve) => {
      const [, ...words] = commandOf('HEALTHCHECK')
      execFile(process.execPath, words, { env: { PORT: port } }, (error) => resolve(!error))
    })
  assert.equal((await fetch(`http://127.0.0.1:${port}/docs/scalar.js`)).status, 200)
  const document = await (await fetch(`http://127.0.0.1:${port}/`)).text()
  const [script] = /\/assets\/[^"]+\.js/.exec(document) ?? []
  assert.equal((await fetch(`http://127.0.0.1:${port}${script}`)).status, 200)
  assert.equal(await healthy(), true)
  server.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
  assert.equal(await healthy(), false)
})

test('the image runs as a user that is not root, told by number', () => {
  assert.match(instructions('USER').at(-1) ?? '', /^[1-9]\d*:[1-9]\d*$/)
})

test('the settings of the image and of compose.yaml exist and are valid', () => {
  const [, block = ''] = /environment: &environment\n(.*?)\n {2}\w/s.exec(read('compose.yaml')) ?? []
  const given: Record<string, string> = { ...env }
  for (const [, name = '', value = ''] of block.matchAll(/^ {4}([A-Z_]+): (.*)$/gm))
    given[name] = value.replace(/\$\{.*?\}/, 'abc')
  assert.ok(given.DATABASE_URL && given.REDIS_URL && given.SECRET_KEY)
  const config = readConfig(given)
  for (const name of Object.keys(given))
    if (name !== 'NODE_ENV') assert.ok(name.toLowerCase() in config, name)
})

test('compose.yaml has no secret of its own: each comes from the environment, and is required', () => {
  const text = read('compose.yaml')
  const places = [...text.matchAll(/(?:PASSWORD|SECRET_KEY|rapport):(?: ?)(\$\{?\w+[^}\s]*)/g)].map(
    ([, value]) => value,
  )
  assert.ok(places.length >= 3, places.join())
  for (const place of places) assert.match(place ?? '', /^\$\{[A-Z_]+:\?/)
})
