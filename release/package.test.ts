// runs: once, apart
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { build } from './build.ts'

const folder = mkdtempSync(join(tmpdir(), 'rapport-package-'))
const empty = join(folder, 'empty')
// npm and the package find the Node that runs this test, and a cache of their own.
const env = {
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  HOME: folder,
  npm_config_cache: join(folder, 'cache'),
  npm_config_offline: 'true',
}
const run = (program: string, words: string[], cwd = empty): string =>
  execFileSync(program, words, { cwd, env, encoding: 'utf8' })

let tarball = ''
before(async () => {
  mkdirSync(empty)
  await build(join(folder, 'dist'))
  tarball = `./${run('npm', ['pack', '--silent', join(folder, 'dist')]).trim()}`
})
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

test('npx runs the package from its tarball in an empty folder, without another package', () => {
  const version = run('npx', ['--yes', tarball, '--version'])
  assert.match(version, /^\d+\.\d+\.\d+\n$/)
})

test('the installed package serves the API, the web app, the docs page and booking pages, and stops with 0', async (t) => {
  run('npm', ['install', '--silent', '--no-save', tarball])
  const rapport = join(empty, 'node_modules/.bin/rapport')
  const settings = { ...env, PORT: '0', DATA_DIR: join(empty, 'data') }
  const server = spawn(rapport, ['serve'], {
    cwd: empty,
    env: settings,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => server.kill('SIGKILL'))
  let said = ''
  for await (const line of createInterface({ input: server.stdout })) {
    said += `${line}\n`
    if (line.includes('to create your account')) break
  }
  const [, url = ''] = /Rapport serves (\S+)/.exec(said) ?? []
  const [key = ''] = /crm_\w+/.exec(said) ?? []

  const page = await (await fetch(`${url}/`)).text()
  const [script = ''] = /\/assets\/[^"]+\.js/.exec(page) ?? []
  const [style = ''] = /\/assets\/[^"]+\.css/.exec(page) ?? []
  for (const path of [script, style, '/docs/scalar.js', '/api/v1/openapi.json', '/healthz'])
    assert.equal((await fetch(url + path)).status, 200, path)

  const authorization = `Bearer ${key}`
  const created = await fetch(`${url}/api/v1/contacts`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"first_name":"Ana","last_name":"Ruiz"}',
  })
  assert.equal(created.status, 201)
  const booking = await (await fetch(`${url}/book/none`)).text()
  const [look = ''] = /\/book\/_\/page-\w+\.css/.exec(booking) ?? []
  assert.equal((await fetch(url + look)).status, 200)

  const listed = execFileSync(rapport, ['keys', 'list'], { env: settings, encoding: 'utf8' })
  assert.match(listed, /First key/)
  const exited = once(server, 'exit')
  server.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})
