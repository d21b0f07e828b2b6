// runs: once
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { certificate } from '../../test/certificate.ts'
import { type Script, startSmtpServer } from '../../test/smtp-server.ts'
import { trust } from '../http/authorities.ts'
import { smtpServerOf } from './settings.ts'
import { createSmtp, type SmtpOptions } from './smtp.ts'

type Options = Parameters<typeof startSmtpServer>[0]
const message = {
  from: 'crm@example.com',
  to: 'ana@example.com',
  bytes: Buffer.from('Subject: a\r\n\r\nText\r\n'),
}

async function against(
  t: TestContext,
  script: Script = {},
  options: Options = {},
  more: Partial<SmtpOptions> = {},
) {
  const server = await startSmtpServer(options)
  Object.assign(server.script, script)
  const smtp = createSmtp({ server: smtpServerOf(server.url), timeout_ms: 300, ...more })
  t.after(async () => {
    smtp.close()
    await server.close()
  })
  return { server, smtp }
}

type Row = [name: string, script: Script, result: string, code: string | null]
const rows: Row[] = [
  ['2xx after the data', {}, 'sent', null],
  ['451 to MAIL', { mail: 451 }, 'later', 'smtp_4xx'],
  ['451 to RCPT', { rcpt: 451 }, 'later', 'smtp_4xx'],
  ['451 to the data', { end: 451 }, 'later', 'smtp_4xx'],
  ['550 to MAIL', { mail: 550 }, 'refused', 'smtp_5xx'],
  ['550 to RCPT', { rcpt: 550 }, 'refused', 'smtp_5xx'],
  ['554 to the data', { end: 554 }, 'refused', 'smtp_5xx'],
  ['421 to the greeting', { connect: 421 }, 'server', 'smtp_4xx'],
  ['554 to the greeting', { connect: 554 }, 'server', 'smtp_5xx'],
  ['421 to MAIL', { mail: 421 }, 'server', 'smtp_4xx'],
  ['421 to RCPT', { rcpt: 421 }, 'server', 'smtp_4xx'],
  ['421 to the data', { end: 421 }, 'server', 'smtp_4xx'],
  ['a drop before the greeting', { connect: 'drop' }, 'server', 'connection_reset'],
  ['a drop at MAIL', { mail: 'drop' }, 'later', 'connection_reset'],
  ['a drop at RCPT', { rcpt: 'drop' }, 'later', 'connection_reset'],
  ['a drop after the final dot', { end: 'drop' }, 'unknown', 'connection_reset'],
  ['a hanging greeting', { connect: 'hang' }, 'server', 'timeout'],
  ['a hanging MAIL', { mail: 'hang' }, 'later', 'timeout'],
  ['a hanging RCPT', { rcpt: 'hang' }, 'later', 'timeout'],
  ['a hanging answer after the final dot', { end: 'hang' }, 'unknown', 'timeout'],
]

describe('what the server does decides the outcome', () => {
  for (const [name, script, result, code] of rows)
    for (const hidePIPELINING of [false, true])
      test(`${name}, ${hidePIPELINING ? 'one command at a time' : 'pipelined'}`, async (t) => {
        const { server, smtp } = await against(t, script, { hidePIPELINING } as Options)
        const outcome = await smtp.send(message)
        assert.deepEqual(
          [outcome.result, outcome.error?.code ?? null],
          [result, code],
          JSON.stringify(outcome),
        )
        assert.equal(server.accepted.length, result === 'sent' ? 1 : 0)
        const answered = code === null || code.startsWith('smtp_')
        assert.equal(outcome.response !== null, answered)
      })

  test('a drop in the middle of the data counts against the mail, and no dot was sent', async (t) => {
    const { smtp } = await against(t, { data: 'drop' })
    const large = { ...message, bytes: Buffer.alloc(8_000_000, 'Text of a mail.\r\n') }
    const { result, error } = await smtp.send(large)
    assert.deepEqual([result, error?.code], ['later', 'connection_reset'])
  })

  test('no server at the port, and no such host, are faults of the server', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    const to = (url: string) => createSmtp({ server: smtpServerOf(url), timeout_ms: 2000 }).send(message)
    const refused = await to(`smtp://127.0.0.1:${port}`)
    assert.deepEqual([refused.result, refused.error?.code], ['server', 'connection_refused'])
    const unknown = await to('smtp://nobody.invalid')
    assert.deepEqual([unknown.result, unknown.error?.code], ['server', 'dns_error'])
  })

  test('an address that needs SMTPUTF8 fails on a server without it, and is sent with it', async (t) => {
    const to = { ...message, to: 'añá@example.com' }
    const without = await against(t, {}, { hideSMTPUTF8: true } as Options)
    const { result, error } = await without.smtp.send(to)
    assert.deepEqual([result, error?.code], ['refused', 'address_unsupported'])
    const with_it = await against(t)
    assert.equal((await with_it.smtp.send(to)).result, 'sent')
  })
})

describe('TLS and authentication', () => {
  const day = 86_400_000
  const pair = certificate({ dns: 'localhost', ip: [127, 0, 0, 1] }, Date.now() - day, Date.now() + day)
  const tls = { key: pair.key, cert: pair.cert }
  const known = { secureContext: trust(pair.cert) }
  const sign_in = (url: string) => smtpServerOf(url.replace('://', '://crm:s%40cret@'))

  test('a certificate that no authority signed is a fault of the server, over smtps and STARTTLS', async (t) => {
    for (const options of [
      { ...tls, secure: true },
      { ...tls, disabledCommands: [] },
    ]) {
      const { smtp, server } = await against(t, {}, options)
      const { result, error } = await smtp.send(message)
      assert.deepEqual([result, error?.code], ['server', 'tls_error'])
      assert.equal(server.accepted.length, 0)
    }
  })

  test('STARTTLS is used where it is offered, and user and password are sent over it', async (t) => {
    const { server } = await against(t, {}, { ...tls, disabledCommands: [] })
    const smtp = createSmtp({ server: sign_in(server.url), timeout_ms: 1000, ...known })
    t.after(smtp.close)
    const { result, tls: secure } = await smtp.send(message)
    assert.deepEqual([result, secure], ['sent', true])
    assert.deepEqual([server.accepted[0]?.secure, server.accepted[0]?.user], [true, 'crm'])
  })

  test('a refused password is a fault of the server, and no message has it', async (t) => {
    const { server } = await against(t, { auth: 535 }, { ...tls, disabledCommands: [] })
    const smtp = createSmtp({ server: sign_in(server.url), timeout_ms: 1000, ...known })
    t.after(smtp.close)
    const outcome = await smtp.send(message)
    assert.deepEqual([outcome.result, outcome.error?.code], ['server', 'auth_error'])
    assert.doesNotMatch(JSON.stringify(outcome), /s@cret|s%40cret/)
    assert.equal((await smtp.check())?.code, 'auth_error')
  })

  test('without TLS, user and password go to a loopback address alone', async (t) => {
    const { server } = await against(t, {}, { allowInsecureAuth: true })
    const smtp = createSmtp({ server: sign_in(server.url), timeout_ms: 1000 })
    t.after(smtp.close)
    assert.equal((await smtp.send(message)).result, 'sent')
    assert.equal(server.accepted[0]?.user, 'crm')
  })
})

describe('connections', () => {
  test('are at most two, are used again, and are closed when no mail comes', async (t) => {
    const { server, smtp } = await against(t)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => smtp.send(message)))
    assert.ok(outcomes.every(({ result }) => result === 'sent'))
    assert.equal(server.accepted.length, 20)
    assert.ok(server.mostOpen() <= 2 && server.connections() <= 2)
  })

  test('a connection that the server closed while it was idle costs no mail a try', async (t) => {
    const { server, smtp } = await against(t)
    await smtp.send(message)
    server.drop()
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal((await smtp.send(message)).result, 'sent')
  })

  test('a stop ends an attempt that hangs', async (t) => {
    const { smtp } = await against(t, { rcpt: 'hang' }, {}, { timeout_ms: 60_000 })
    const stopping = new AbortController()
    const sent = smtp.send(message, stopping.signal)
    setTimeout(() => stopping.abort(), 100)
    assert.equal((await sent).result, 'interrupted')
  })
})
