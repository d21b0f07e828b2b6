// runs: once
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startRapport } from '../test/harness.ts'
import { freePort } from '../test/ports.ts'
import { until } from '../test/webhooks.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** The code blocks of the README's main job: the receiver's terminal, then the client's. */
function mainJob(): string[] {
  const [, section = ''] = /## The main job in a minute\n([\s\S]*?)\n## /.exec(readme) ?? []
  return [...section.matchAll(/```\n([\s\S]*?)```/g)].map(([, block = '']) => block)
}

test('the main job of the README ends in an event that the sample receiver has printed and the log shows', async (t) => {
  const [receiving = '', calling = ''] = mainJob()
  const service = await startRapport()
  t.after(() => service.close())
  const folder = mkdtempSync(join(tmpdir(), 'rapport-readme-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const port = await freePort()
  const env = { PATH: process.env.PATH, HOME: folder, PORT: String(port), STORE: join(folder, 'received') }

  const receiver = spawn('bash', ['-c', `exec env ${receiving}`], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    receiver.kill()
    await once(receiver, 'exit')
  })
  const lines = createInterface({ input: receiver.stdout })
  const printed: string[] = []
  lines.on('line', (line) => printed.push(line))
  await once(lines, 'line')

  const script = calling
    .replace(/^KEY=.*$/m, `KEY=${service.key}`)
    .replace(/^API=.*$/m, `API=${service.url}/api/v1`)
    .replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`)
    .replace(
      /^# The delivery/m,
      'until curl -s -H "$H" "$API/deliveries" | grep -q succeeded; do sleep 0.1; done\n$&',
    )
  const client = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, timeout: 300_000 })
  const [output, errors, [code]] = await Promise.all([
    text(client.stdout),
    text(client.stderr),
    once(client, 'close'),
  ])
  assert.equal(code, 0, errors)
  const delivery = JSON.parse(output.slice(output.lastIndexOf('{"success"'))).data
  assert.equal(delivery.status, 'succeeded')
  assert.equal(delivery.attempts[0].response.status, 200)
  // The receiver answers before it prints.
  await until(
    async () => printed,
    (all) => all.some((line) => line.includes('deal.won') && line.includes('First order')),
  )
})
