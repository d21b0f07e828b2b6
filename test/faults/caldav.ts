import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../ports.ts'

const programs = { radicale: '/usr/bin/radicale', xandikos: '/usr/bin/xandikos' }
type Program = keyof typeof programs

/** Why a CalDAV server cannot be started here; null if it can. */
export const missingCalDav = (name: Program): string | null =>
  existsSync(programs[name]) ? null : `${name} is not installed: apt-get install ${name}`

const person = { name: 'ana', password: 'p\u00e4ss:word' }
const authorization = `Basic ${Buffer.from(`${person.name}:${person.password}`).toString('base64')}`

const words: Record<Program, (folder: string, port: number) => string[]> = {
  radicale(folder, port) {
    const users = join(folder, 'users')
    writeFileSync(users, `${person.name}:${person.password}\n`)
    return [
      `--server-hosts=127.0.0.1:${port}`,
      `--storage-filesystem-folder=${join(folder, 'collections')}`,
      '--auth-type=htpasswd',
      `--auth-htpasswd-filename=${users}`,
      '--auth-htpasswd-encryption=plain',
      '--auth-delay=0',
    ]
  },
  xandikos: (folder, port) => ['--listen-address=127.0.0.1', `--port=${port}`, `-d${folder}`, '--defaults'],
}

/** A CalDAV server with a folder of its own on a free port of loopback, and a calendar of a person in it. */
export async function startCalDav(name: Program) {
  const folder = mkdtempSync(join(tmpdir(), `rapport-${name}-`))
  const port = await freePort()
  const child = spawn(programs[name], words[name](folder, port), { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const base = `http://127.0.0.1:${port}`
  const home = name === 'radicale' ? `${base}/ana/private/` : `${base}/user/calendars/calendar/`
  const send = async (method: string, url: string, body?: string, more: Record<string, string> = {}) => {
    const answer = await fetch(url, {
      method,
      ...(body !== undefined && { body }),
      headers: { authorization, ...more },
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  for (;;) {
    const up = await fetch(base).catch(() => null)
    if (up) break
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  if (name === 'radicale') {
    const { status, text } = await send('MKCALENDAR', home)
    if (status !== 201) throw new Error(`MKCALENDAR: ${status} ${text}`)
  }
  return {
    url: home,
    person,
    send,
    /** Puts an event, in place of that of the same name. */
    async put(event: string, file: string) {
      const { status, text } = await send('PUT', `${home}${event}.ics`, file, {
        'content-type': 'text/calendar',
      })
      if (status >= 300) throw new Error(`PUT: ${status} ${text}`)
    },
    remove: (event: string) => send('DELETE', `${home}${event}.ics`),
    async close() {
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
