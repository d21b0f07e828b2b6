import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { calendarFile, hourAt, startCalendars } from '../test/calendar-server.ts'
import { startReceiver } from '../test/receiver.ts'
import { startSmtpServer } from '../test/smtp-server.ts'
import { root } from './root.ts'

type Env = Record<string, string | undefined>

/**
 * Tries an installed program. It serves the API, the web app, the docs page and booking pages, sends a delivery and a mail, and
 * reads a calendar and a spreadsheet. It runs two processes on one port, makes a backup, and stops with exit code 0. `folder`
 * is an empty folder for its data.
 */
export async function tryProgram(program: string, folder: string, env: Env): Promise<void> {
  const smtp = await startSmtpServer()
  const settings = {
    ...env,
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    WEB_CONCURRENCY: '2',
    SMTP_URL: smtp.url,
    MAIL_FROM: 'crm@example.com',
  }
  // The SMTP server of this process answers `doctor` in the meantime.
  const run = async (...words: string[]) =>
    (await promisify(execFile)(program, words, { env: settings, encoding: 'utf8' })).stdout
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
    await tryLateParts(url, key, /\/setup#(\S+)/.exec(said)?.[1])
    assert.equal(smtp.accepted.length, 1)
    assert.match(await run('keys', 'list'), /First key/)
    assert.match(await run('backup', join(folder, 'backup.db')), /^Wrote/)
    assert.match(await run('seed', '--add'), /^Made 24 companies/)
    assert.match(await run('doctor'), /the last sign of life is/)
    assert.match(await run('verify-receiver', '--help'), /^Usage: /)
    const exited = once(server, 'exit')
    server.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null])
  } finally {
    server.kill('SIGKILL')
    await smtp.close()
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

/** The parts that a program loads when they are first used: of calendars, mails, spreadsheets and assistants. */
async function tryLateParts(url: string, key: string, token: string | undefined): Promise<void> {
  const json = { 'content-type': 'application/json' }
  const post = (path: string, body: object, headers: Record<string, string>) =>
    fetch(url + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
  const person = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }
  const made = await post('/api/v1/setup', { ...person, token, workspace_name: 'Acme' }, {})
  const cookie = made.headers.getSetCookie().map((set) => set.split(';')[0])
  const session = { cookie: cookie.join('; ') }
  const dataOf = async (answer: Response) => {
    const text = await answer.text()
    assert.ok(answer.ok, text)
    return JSON.parse(text).data
  }
  assert.equal((await dataOf(await post('/api/v1/mails/test', {}, session))).status, 'sent')
  const calendars = await startCalendars()
  try {
    calendars.serve('/one.ics', calendarFile(hourAt(Date.now() + 86_400_000)))
    const fields = { url: `${calendars.url}/one.ics` }
    const { id } = await dataOf(await post('/api/v1/busy-calendars', fields, session))
    const read = await dataOf(await post(`/api/v1/busy-calendars/${id}/refresh`, {}, session))
    assert.deepEqual([read.status, read.busy_count], ['ok', 1], JSON.stringify(read))
  } finally {
    await calendars.close()
  }
  const by_key = { authorization: `Bearer ${key}` }
  const sheet = await fetch(`${url}/api/v1/imports/preview?resource=deals`, {
    method: 'POST',
    headers: {
      ...by_key,
      'content-type': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    },
    body: readFileSync(join(root, 'test/fixtures/imports/sheets/libreoffice.xlsx')),
  })
  assert.equal(sheet.status, 200, await sheet.text())
  const accept = 'application/json, text/event-stream'
  const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  assert.match(await (await post('/mcp', asked, { ...by_key, accept })).text(), /"tools":\[\{/)
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
