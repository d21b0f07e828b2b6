import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startReceiver } from '../test/receiver.ts'

type Env = Record<string, string | undefined>

/**
 * Tries an installed program. It serves the API, the web app, the docs page and booking pages, and sends a delivery. It runs two
 * processes on one port, makes a backup, and stops with exit code 0. `folder` is an empty folder for its data.
 */
export async function tryProgram(program: string, folder: string, env: Env): Promise<void> {
  const settings = { ...env, PORT: '0', DATA_DIR: join(folder, 'data'), WEB_CONCURRENCY: '2' }
  const run = (...words: string[]) => execFileSync(program, words, { env: settings, encoding: 'utf8' })
  const server = spawn(program, ['serve'], {
    cwd: folder,
    env: settings,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let said = ''
    for await (const line of createInterface({ input: server.stdout })) {
      said += `${line}\n`
      if (line.includes('to create your account')) break
    }
    const [, url = ''] = /Rapport serves (\S+)/.exec(said) ?? []
    await tryAddresses(url)
    assert.ok(!said.includes('crm_'), 'no key is in a log')
    const key = readFileSync(join(folder, 'data/first-api-key.txt'), 'utf8').trim()
    const created = await fetch(`${url}/api/v1/contacts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"first_name":"Ana","last_name":"Ruiz"}',
    })
    assert.equal(created.status, 201)
    await tryDelivery(url, key)
    assert.match(run('keys', 'list'), /First key/)
    assert.match(run('backup', join(folder, 'backup.db')), /^Wrote/)
    assert.match(run('seed', '--add'), /^Made 24 companies/)
    assert.match(run('doctor'), /the last sign of life is/)
    assert.match(run('verify-receiver', '--help'), /^Usage: /)
    const exited = once(server, 'exit')
    server.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null])
  } finally {
    server.kill('SIGKILL')
  }
}

/** A delivery to a receiver of this machine. The program loads its HTTP client for the first one. */
async function tryDelivery(url: string, key: string): Promise<void> {
  const receiver = await startReceiver()
  try {
    const post = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, body: (await answer.json()) as { data: { id: string } } }
    }
    const hook = { url: receiver.url, events: ['*'] }
    const { status, body } = await post('/api/v1/webhooks', hook)
    assert.equal(status, 201, JSON.stringify(body))
    assert.equal((await post(`/api/v1/webhooks/${body.data.id}/test`, {})).status, 200)
    assert.equal(receiver.received.length, 1)
  } finally {
    await receiver.close()
  }
}

/** The pages and files that a program reads from its own installation. */
async function tryAddresses(url: string): Promise<void> {
  const page = await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text()
  const booking = await (await fetch(`${url}/book/none`)).text()
  const files = [
    /\/assets\/[\w.-]+\.js/.exec(page),
    /\/assets\/[\w.-]+\.css/.exec(page),
    /\/book\/_\/page-\w+\.css/.exec(booking),
  ].map((found) => found?.[0] ?? '/missing')
  for (const path of [...files, '/docs/scalar.js', '/api/v1/openapi.json', '/healthz'])
    for (const coding of ['br', 'gzip', 'identity'])
      assert.equal((await fetch(url + path, { headers: { 'accept-encoding': coding } })).status, 200, path)
}
