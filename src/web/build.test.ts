// runs: once
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** An installation of its own, with or without what builds the app. */
function install(t: { after(work: () => void): void }, { packages = true, sources = true } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-web-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'package-lock.json', 'src'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  if (sources) {
    const skipped = new RegExp(`^${join(root, 'web')}/(dist|node_modules)`)
    cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
    cpSync(join(root, 'web'), join(folder, 'web'), { recursive: true, filter: (path) => !skipped.test(path) })
    // When it is built is tried here, not what: the tests of its pages build the whole app.
    writeFileSync(join(folder, 'web/src/main.tsx'), 'document.body.append("Rapport")\n')
  }
  if (packages) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Gives an installation the packages that npm ci --omit=dev would. */
function addProductionPackages(folder: string) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  for (const [path, { dev }] of Object.entries<{ dev?: boolean }>(packages)) {
    const outermost = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)
    if (!outermost || dev || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
}

const script = `import { buildWebApp } from './src/web/build.ts'
console.log(JSON.stringify(await buildWebApp((line) => console.error(line))))`

function start(folder: string): ChildProcess {
  const words = ['--input-type=module', '--eval', script]
  return spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function build(folder: string): Promise<{ built: string | null; said: string }> {
  const child = start(folder)
  let out = ''
  let said = ''
  child.stdout?.on('data', (text) => (out += text))
  child.stderr?.on('data', (text) => (said += text))
  const [code] = await once(child, 'close')
  assert.equal(code, 0, said)
  return { built: JSON.parse(out), said }
}

test('starts at once build one app, a later start none, and changed sources another one beside it', async (t) => {
  const folder = install(t)
  const all = await Promise.all([build(folder), build(folder), build(folder)])
  const [first] = all
  for (const { built } of all) assert.equal(built, first?.built)
  assert.ok(existsSync(join(first?.built ?? '', 'index.html')))
  assert.deepEqual(await build(folder), { built: first?.built, said: '' })
  assert.equal(readdirSync(join(folder, 'web/dist')).length, 1)

  appendFileSync(join(folder, 'web/src/main.tsx'), '\n// Another version.\n')
  const { built } = await build(folder)
  assert.notEqual(built, first?.built)
  // A running process continues to serve its own version.
  assert.ok(existsSync(join(first?.built ?? '', 'index.html')))

  // Sources that cannot be built: the newest app that there is.
  appendFileSync(join(folder, 'web/src/main.tsx'), '\nimport "./nothing.ts"\n')
  const failed = await build(folder)
  assert.match(failed.said, /could not be built/)
  assert.equal(failed.built, built)

  // A release of them would contain that older app.
  cpSync(join(root, 'release'), join(folder, 'release'), { recursive: true })
  const words = ['--input-type=module', '--eval', "(await import('./release/build.ts')).build()"]
  const release = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
  assert.notEqual(release.status, 0)
  assert.match(release.stderr, /nothing\.ts/)
  assert.ok(!existsSync(join(folder, 'dist')))
})

test('a start that is ended while it builds leaves nothing behind', async (t) => {
  const folder = install(t)
  const ended = `process.on('SIGTERM', () => process.exit(0))\n${script}`
  const words = ['--input-type=module', '--eval', ended]
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  await once(child.stderr as NodeJS.ReadableStream, 'data')
  child.kill('SIGTERM')
  await once(child, 'exit')
  const dist = join(folder, 'web/dist')
  assert.deepEqual(existsSync(dist) ? readdirSync(dist) : [], [])
  assert.ok((await build(folder)).built)
})

test('without what builds it, or without sources, the service starts all the same', async (t) => {
  const bare = await build(install(t, { packages: false }))
  assert.equal(bare.built, null)
  assert.match(bare.said, /npm ci/)
  assert.deepEqual(await build(install(t, { sources: false, packages: false })), { built: null, said: '' })
})

test('a start without development packages offers no link to the web app, and says how to get it', async (t) => {
  const folder = install(t, { packages: false })
  addProductionPackages(folder)
  const service = spawn(process.execPath, ['src/main.ts', 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(service, 'exit')
  t.after(() => service.kill('SIGKILL'))
  let said = ''
  for await (const line of createInterface({ input: service.stdout })) {
    said += `${line}\n`
    if (line.includes('npm ci')) break
  }
  assert.match(said, /Rapport serves http/)
  assert.match(said, /run npm ci without --omit=dev/)
  assert.doesNotMatch(said, /\/setup/)
  service.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})
