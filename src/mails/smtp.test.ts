// runs: once
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { calmTime } from '../../test/calm-time.ts'
import { certificate } from '../../test/certificate.ts'
import { type Script, startSmtpServer } from '../../test/smtp-server.ts'
import { trust } from '../http/authorities.ts'
import type { SmtpOptions } from './connections.ts'
import { smtpServerOf } from './settings.ts'
import { createSmtp } from './smtp.ts'

type Options = Parameters<typeof startSmtpServer>[0]
const message = {
  from: 'crm@example.com',
  to: 'ana@example.com',
  bytes: Buffer.from('Subject: a\r\n\r\nText\r\n'),
}
// On a busy machine, an answer takes long, also of a server in this process.
const patient = { timeout_ms: 60_000 }
/** For what is never answered. The tests of it wait side by side. */
const hurried = { timeout_ms: 3000 }
const side_by_side = { concurrency: true }

async function against(
  t: TestContext,
  script: Script = {},
  options: Options = {},
  more: Partial<SmtpOptions> = {},
) {
  const server = await startSmtpServer(options)
  Object.assign(server.script, script)
  const smtp = createSmtp({ server: smtpServerOf(server.url), ...patient, ...more })
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

describe('what the server does decides the outcome', side_by_side, () => {
  for (const [name, script, result, code] of rows)
    for (const hidePIPELINING of [false, true])
      test(`${name}, ${hidePIPELINING ? 'one command at a time' : 'pipelined'}`, async (t) => {
        const limit = code === 'timeout' ? hurried : patient
        const { server, smtp } = await against(t, script, { hidePIPELINING } as Options, limit)
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
    const to = (url: string) => createSmtp({ server: smtpServerOf(url), ...patient }).send(message)
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

/** A server that answers each command with a line of its own; null never answers, '' ends the connection. */
async function saying(t: TestContext, lines: Record<string, string | null>, greets = '220 ready') {
  const sockets: Socket[] = []
  const usual: Record<string, string> = { EHLO: '250-me\r\n250 STARTTLS', DATA: '354 go on' }
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.write(`${greets}\r\n`)
    let is_data = false
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\r\n').filter(Boolean)) {
        if (is_data && line !== '.') continue
        const verb = is_data ? 'DOT' : (line.split(/[ :]/)[0] ?? '').toUpperCase()
        const answer = lines[verb] === undefined ? (usual[verb] ?? '250 well') : lines[verb]
        is_data = verb === 'DATA' && String(answer).startsWith('354')
        if (answer === '') socket.destroy()
        else if (answer !== null) socket.write(`${answer}\r\n`)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const limit = Object.values(lines).includes(null) ? hurried : patient
  const smtp = createSmtp({ server: { host: '127.0.0.1', port, secure: false, auth: null }, ...limit })
  t.after(() => {
    smtp.close()
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return smtp
}

describe('each step of a session', side_by_side, () => {
  const ehlo = '250 me'
  const steps: [string, Record<string, string | null>, string, string | null][] = [
    ['a server without STARTTLS', { EHLO: ehlo }, 'sent', null],
    ['451 to EHLO and HELO', { EHLO: '451 later', HELO: '451 later' }, 'server', 'smtp_4xx'],
    ['550 to EHLO and HELO', { EHLO: '550 no', HELO: '550 no' }, 'server', 'smtp_5xx'],
    ['a drop at EHLO', { EHLO: '' }, 'server', 'connection_reset'],
    ['a hanging EHLO', { EHLO: null }, 'server', 'timeout'],
    ['454 to STARTTLS', { STARTTLS: '454 no TLS now' }, 'server', 'tls_error'],
    ['a hanging STARTTLS', { STARTTLS: null }, 'server', 'timeout'],
    ['451 to DATA', { EHLO: ehlo, DATA: '451 later' }, 'later', 'smtp_4xx'],
    ['554 to DATA', { EHLO: ehlo, DATA: '554 no' }, 'refused', 'smtp_5xx'],
    ['421 to DATA', { EHLO: ehlo, DATA: '421 closing' }, 'server', 'smtp_4xx'],
    ['a drop at DATA', { EHLO: ehlo, DATA: '' }, 'later', 'connection_reset'],
    ['a hanging DATA', { EHLO: ehlo, DATA: null }, 'later', 'timeout'],
    ['an answer to MAIL that is none', { EHLO: ehlo, MAIL: 'what?' }, 'later', 'protocol_error'],
  ]
  for (const [name, lines, result, code] of steps)
    test(name, async (t) => {
      const outcome = await (await saying(t, lines)).send(message)
      assert.equal(outcome.result, result, JSON.stringify(outcome))
      if (code !== null) assert.equal(outcome.error?.code, code, JSON.stringify(outcome))
    })

  test('of a long answer, at most 16 KiB are kept', async (t) => {
    const long = Array.from({ length: 400 }, () => `550-${'x'.repeat(60)}`).join('\r\n')
    const { response, error } = await (await saying(t, { EHLO: ehlo, RCPT: `${long}\r\n550 no` })).send(
      message,
    )
    assert.equal(response?.code, 550)
    assert.ok(Buffer.byteLength(response?.text ?? '') <= 16 * 1024)
    assert.ok(Buffer.byteLength(response?.text ?? '') > 10_000)
    assert.ok((error?.message.length ?? 0) <= 1000)
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
    const smtp = createSmtp({ server: sign_in(server.url), ...patient, ...known })
    t.after(smtp.close)
    const { result, tls: secure } = await smtp.send(message)
    assert.deepEqual([result, secure], ['sent', true])
    assert.deepEqual([server.accepted[0]?.secure, server.accepted[0]?.user], [true, 'crm'])
  })

  test('a refused password is a fault of the server, and no message has it', async (t) => {
    const { server } = await against(t, { auth: 535 }, { ...tls, disabledCommands: [] })
    const smtp = createSmtp({ server: sign_in(server.url), ...patient, ...known })
    t.after(smtp.close)
    const outcome = await smtp.send(message)
    assert.deepEqual([outcome.result, outcome.error?.code], ['server', 'auth_error'])
    assert.doesNotMatch(JSON.stringify(outcome), /s@cret|s%40cret/)
    assert.equal((await smtp.check())?.code, 'auth_error')
  })

  test('without TLS, user and password go to a loopback address alone', async (t) => {
    const { server } = await against(t, {}, { allowInsecureAuth: true })
    const smtp = createSmtp({ server: sign_in(server.url), ...patient })
    t.after(smtp.close)
    assert.equal((await smtp.send(message)).result, 'sent')
    assert.equal(server.accepted[0]?.user, 'crm')
  })
})

describe('connections', () => {
  test('are at most two, are used again, and are closed when no mail comes for 5 s', async (t) => {
    const { server, smtp } = await against(t)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => smtp.send(message)))
    assert.ok(outcomes.every(({ result }) => result === 'sent'))
    assert.equal(server.accepted.length, 20)
    assert.ok(server.mostOpen() <= 2 && server.connections() <= 2)
    const { took_ms, calm_ms } = await calmTime(async () => {
      while (server.open() > 0) await pause(50)
    })
    assert.ok(took_ms > 4000 && calm_ms < 12_000, `${took_ms} ms`)
  })

  test('a connection that the server closed while it was idle costs no mail a try', async (t) => {
    const { server, smtp } = await against(t)
    await smtp.send(message)
    server.drop()
    await pause(50)
    // After a pause of the process, timers come before what has happened on sockets.
    await turn()
    await turn()
    assert.equal((await smtp.send(message)).result, 'sent')
  })

  for (const [name, act] of [
    ['closes', 'drop'],
    ['closes with 421', 421],
  ] as const)
    test(`an idle connection that the server ${name} as a mail takes it costs the mail no try, and the server no fault`, async (t) => {
      const { server, smtp } = await against(t)
      await smtp.send(message)
      // The first command on the old connection finds it closed. The next connection is well.
      let before = server.connections()
      server.script.mail = () => (server.connections() === before ? act : undefined)
      const { result, error } = await smtp.send(message)
      assert.deepEqual([result, error], ['sent', null])
      assert.equal(server.accepted.length, 2)
      // No more than once: the server closes the new connection, too.
      server.script.mail = act
      before = server.connections()
      assert.equal((await smtp.send(message)).result, act === 421 ? 'server' : 'later')
      assert.equal(server.connections(), before + 1)
    })

  test('a connection that breaks after the final dot is not replaced: the server may have the mail', async (t) => {
    for (const act of ['drop', 421] as const) {
      const { server, smtp } = await against(t)
      await smtp.send(message)
      server.script.end = act
      assert.equal((await smtp.send(message)).result, act === 421 ? 'server' : 'unknown')
      assert.equal(server.connections(), 1)
    }
  })

  test('a stop ends an attempt that hangs', async (t) => {
    const { smtp } = await against(t, { rcpt: 'hang' })
    const stopping = new AbortController()
    const sent = smtp.send(message, stopping.signal)
    setTimeout(() => stopping.abort(), 100)
    assert.equal((await sent).result, 'interrupted')
  })
})
