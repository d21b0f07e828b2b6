// runs: once, apart
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { build } from './build.ts'
import { root } from './root.ts'
import { tryProgram } from './trial.ts'

const folder = mkdtempSync(join(tmpdir(), 'rapport-package-'))
const empty = join(folder, 'empty')
// npm and the package find the Node that runs this test, and a cache of their own.
const env = {
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  HOME: folder,
  npm_config_cache: join(folder, 'cache'),
  npm_config_offline: 'true',
}
const run = (program: string, words: string[]): string =>
  execFileSync(program, words, { cwd: empty, env, encoding: 'utf8' })

let tarball = ''
before(async () => {
  mkdirSync(empty)
  const dist = join(folder, 'dist')
  // A run of all tests has just built it.
  if (process.env.RAPPORT_RUN === 'bundle')
    cpSync(join(root, 'dist'), dist, { recursive: true, filter: (path) => !path.endsWith('.cache') })
  else await build(dist)
  // A run of the program leaves compiled code beside it.
  run(process.execPath, [join(folder, 'dist/main.js'), '--version'])
  tarball = `./${run('npm', ['pack', '--silent', join(folder, 'dist')]).trim()}`
})
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

test('npx runs the package from its tarball in an empty folder, without another package', () => {
  assert.match(run('npx', ['--yes', tarball, '--version']), /^\d+\.\d+\.\d+\n$/)
})

test('the package has all files of the build, and nothing that a run of the program left there', () => {
  const dist = join(folder, 'dist')
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(dist, name)).isFile())
    .map((name) => `package/${name}`)
  const kept = files.filter((name) => !name.startsWith('package/.cache/'))
  assert.notEqual(kept.length, files.length)
  const packed = run('tar', ['-tzf', tarball]).trim().split('\n')
  assert.deepEqual(packed.sort(), kept.sort())
})

test('the program is in ASCII, which V8 keeps in one byte for each character', () => {
  const dist = join(folder, 'dist')
  const sources = globSync(['main.js', 'parts/*.js'], { cwd: dist })
  assert.ok(sources.length > 10)
  const wide = sources.filter((name) => /[^\0-\x7f]/.test(readFileSync(join(dist, name), 'utf8')))
  assert.deepEqual(wide, [])
})

test('the package says which Node it needs to one that is too old', () => {
  const as = (version: string) => {
    const preload = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
    const words = ['--import', `data:text/javascript,${preload}`, join(folder, 'dist/main.js'), '--version']
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  for (const old of ['20.20.2', '24.10.9'])
    assert.deepEqual(as(old), {
      status: 1,
      stdout: '',
      stderr: `rapport: Node ${old} is too old. Use Node 24.11 or newer.\n`,
    })
  for (const enough of ['24.11.0', '26.10.0']) assert.equal(as(enough).status, 0)
})

/** Returns the output of a process that loads `preload` first, and stops when it serves. */
async function idleProcess(preload: string): Promise<string> {
  const loads = `data:text/javascript,${encodeURIComponent(preload)}`
  const words = ['--import', loads, join(folder, 'dist/main.js'), 'serve']
  const settings = { ...env, PORT: '0', DATA_DIR: join(folder, 'idle') }
  const server = spawn(process.execPath, words, { env: settings, stdio: ['ignore', 'pipe', 'inherit'] })
  const late = setTimeout(() => server.kill('SIGKILL'), 300_000)
  let said = ''
  for await (const piece of server.stdout) {
    said += piece
    if (said.includes('to create your account')) server.kill('SIGTERM')
  }
  clearTimeout(late)
  return said
}

test('a process without deliveries has not loaded TLS and HTTP/2, which take 8 MiB', async () => {
  const said = await idleProcess(`process.on('exit', () => console.log(process.moduleLoadList.join()))`)
  assert.match(said, /NativeModule http,/)
  for (const name of ['tls', 'https', 'http2']) assert.doesNotMatch(said, new RegExp(`NativeModule ${name},`))
})

test('a process without visitors and mails has made no formatter, whose language data take 4 MiB', async () => {
  const said = await idleProcess(`
    const made = []
    for (const name of ['NumberFormat', 'PluralRules', 'DateTimeFormat', 'ListFormat', 'Collator']) {
      const construct = (of, values) => made.push(name) && new of(...values)
      Intl[name] = new Proxy(Intl[name], { construct })
    }
    new Intl.Collator()
    process.on('exit', () => console.log('formatters: ' + made))`)
  // The one of the preload shows that the test would find others.
  assert.match(said, /^formatters: Collator$/m)
})

test('the installed package serves API, web app, docs and booking pages, uses the parts that load late, makes a backup, and stops with 0', async () => {
  run('npm', ['install', '--silent', '--no-save', tarball])
  await tryProgram(join(empty, 'node_modules/.bin/rapport'), empty, env)
})
