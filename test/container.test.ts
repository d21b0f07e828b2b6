// runs: once
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from '../release/build.ts'
import { inputs } from '../release/sources.js'
import { readConfig } from '../src/config.ts'

// The tests cannot build an image. So this test copies the files as the Dockerfile does, and runs its commands.

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

test('the image has all files that the server needs: it serves, answers its health check, and stops at SIGTERM with 0', async () => {
  const dist = join(folder, 'dist')
  const image = join(folder, 'image')
  await build(dist)
  execFileSync('sh', [join(root, 'release/image.sh'), dist, process.execPath, image])
  // Paths of the image, outside of it: only root may enter it.
  const placed = (words: string[]) => words.map((word) => word.replace(/^\//, `${image}/`))
  const [program = '', ...words] = placed([...commandOf('ENTRYPOINT'), ...commandOf('CMD')])
  const server = spawn(program, words, {
    cwd: image,
    env: { ...env, PORT: '0', DATA_DIR: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => server.kill('SIGKILL'))
  const exited = once(server, 'exit')
  let address = ''
  // On a busy machine a warning of a slow statement may come first.
  for await (const line of createInterface({ input: server.stdout })) {
    address = /^Rapport serves (\S+)$/.exec(line)?.[1] ?? ''
    if (address) break
  }
  const { port, hostname } = new URL(address)
  assert.equal(env.HOST, '0.0.0.0', `a container is reached from outside, not by ${hostname}`)
  const checked = new URL(commandOf('HEALTHCHECK').at(-1) ?? '')
  assert.equal(checked.port, env.PORT)
  checked.port = port
  for (const url of [`${checked}`, `http://127.0.0.1:${port}/docs/scalar.js`, `http://127.0.0.1:${port}/`])
    assert.equal((await fetch(url)).status, 200, url)
  server.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
  // docker exec finds these two by their names.
  const command = join(image, 'usr/local/bin/rapport')
  assert.match(execFileSync(process.execPath, [command, '--version'], { encoding: 'utf8' }), /^\d+\.\d+/)
  assert.equal(statSync(command).mode & 0o777, 0o755)
  assert.equal(readlinkSync(join(image, 'bin/cat')), 'wget')
})

test('the build of the image gets every file that the build reads', () => {
  const given = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1))
  const files = globSync(inputs, { cwd: root })
  assert.ok(files.length > 500)
  const missing = files.filter((file) => !given.some((one) => file === one || file.startsWith(`${one}/`)))
  assert.deepEqual(missing, [])
})

test('the image runs as a user that is not root, given by number', () => {
  assert.match(instructions('USER').at(-1) ?? '', /^[1-9]\d*:[1-9]\d*$/)
})

for (const file of ['compose.yaml', 'compose.postgres.yaml'])
  test(`the settings of the image and of ${file} exist and are valid`, () => {
    const [, block = ''] =
      /environment: &environment\n(.*?)\n *(?:volumes|depends_on)/s.exec(read(file)) ?? []
    const given: Record<string, string> = { ...env }
    for (const [, name = '', value = ''] of block.matchAll(/^ +([A-Z_]+): (.*)$/gm))
      given[name] = value.replace(/\$\{.*?\}/, 'abc')
    assert.ok(given.PUBLIC_URL && given.TRUSTED_PROXIES)
    assert.ok(read(file).includes(`subnet: ${given.TRUSTED_PROXIES}\n`))
    const config = readConfig(given)
    for (const name of Object.keys(given))
      if (name !== 'NODE_ENV') assert.ok(name.toLowerCase() in config, name)
  })

test('compose.postgres.yaml has no secret of its own: each comes from the environment, and is required', () => {
  const text = read('compose.postgres.yaml')
  const places = [...text.matchAll(/(?:PASSWORD|SECRET_KEY|rapport):(?: ?)(\$\{?\w+[^}\s]*)/g)].map(
    ([, value]) => value,
  )
  assert.ok(places.length >= 3, places.join())
  for (const place of places) assert.match(place ?? '', /^\$\{[A-Z_]+:\?/)
})
