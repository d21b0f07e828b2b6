// runs: both
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { client } from './harness.ts'
import { mailSettings } from './mails.ts'
import { firstKey, scratchFolder, serveProcess } from './process.ts'
import { type Script, startSmtpServer } from './smtp-server.ts'
import { bestOfTen } from './statements.ts'
import { useFor } from './use.ts'
import { until } from './webhooks.ts'

const most_ms = 15_000
const isQuick = ({ took_ms }: { took_ms: number }) => took_ms < most_ms

/** A service that was killed while the server hung at a step of a mail, and its successor. */
async function killed(t: TestContext, script: Script) {
  const server = await useFor(t, startSmtpServer())
  const DATA_DIR = scratchFolder(t)
  const env = { DATA_DIR, ...mailSettings(server.url, { SMTP_TIMEOUT_MS: '60000' }) }
  let reached = false
  Object.assign(
    server.script,
    Object.fromEntries(
      Object.entries(script).map(([step, act]) => [
        step,
        () => {
          reached = true
          return act
        },
      ]),
    ),
  )
  const first = await serveProcess(t, env)
  const key = firstKey(DATA_DIR)
  const body = { email: 'grace@example.com', role: 'member' }
  const { status, body: made } = await client(first.url, key)('POST', '/api/v1/invitations', body)
  assert.equal(status, 201)
  const { mail_id } = made.data
  await until(
    async () => reached,
    (now) => now,
  )
  first.signal('SIGKILL')
  await first.exited
  server.heal()
  const second = await serveProcess(t, env)
  const began = performance.now()
  const call = client(second.url, key)
  const mail = await until(async () => (await call('GET', `/api/v1/mails/${mail_id}`)).body.data, {
    status: 'sent',
  })
  return { server, mail, took_ms: performance.now() - began }
}

test('a mail whose attempt a crash interrupted is sent within 15 s after the start, and loses no retry', async (t) => {
  const { server, mail, took_ms } = await bestOfTen(() => killed(t, { rcpt: 'hang' }), isQuick)
  assert.ok(took_ms < most_ms, `${took_ms} ms`)
  assert.deepEqual(
    mail.attempts.map(({ error }: { error: { code: string } | null }) => error?.code ?? null),
    ['interrupted', null],
  )
  assert.deepEqual([mail.attempt_count, server.accepted.length], [1, 1])
})

test('a crash after the final dot sends the mail once more, with the same Message-ID', async (t) => {
  const { server, mail, took_ms } = await bestOfTen(() => killed(t, { end: 'hang' }), isQuick)
  assert.ok(took_ms < most_ms, `${took_ms} ms`)
  assert.equal(server.accepted.length, 1)
  assert.ok(server.accepted[0]?.raw.includes(mail.message_id))
})
