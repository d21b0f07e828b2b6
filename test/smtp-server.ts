import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { use } from './use.ts'

/** A mail that the server accepted. */
export type Accepted = { from: string; to: string[]; raw: string; secure: boolean; user: string | null }

type Step = 'connect' | 'auth' | 'mail' | 'rcpt' | 'data' | 'end'
/** The act at a step: the server answers with a code, ends the connection, or never answers. */
type Act = number | 'drop' | 'hang'
/** The acts at steps, for all mails or by recipient. */
export type Script = Partial<Record<Step, Act | ((to: string) => Act | undefined)>>

const failure = (code: number) => Object.assign(new Error(`scripted ${code}`), { responseCode: code })

/** A scripted SMTP server on a free port of loopback. */
export async function startSmtpServer(options: SMTPServerOptions = {}) {
  const accepted: Accepted[] = []
  const script: Script = {}
  let connections = 0
  let most_open = 0
  const drop = () => {
    for (const one of server.connections)
      (one as unknown as { _socket: { destroy(): void } })._socket.destroy()
  }
  const act = (step: Step, to: string, go: (error?: Error) => void): void => {
    const scripted = script[step]
    const what = typeof scripted === 'function' ? scripted(to) : scripted
    if (what === undefined) go()
    else if (what === 'drop') drop()
    else if (what !== 'hang') go(failure(what))
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onConnect(_, done) {
      connections++
      most_open = Math.max(most_open, server.connections.size)
      act('connect', '', done)
    },
    onAuth({ username }, _, done) {
      act('auth', '', (error) => done(error ?? null, { user: username }))
    },
    onMailFrom(_, __, done) {
      act('mail', '', done)
    },
    onRcptTo({ address }, _, done) {
      act('rcpt', address, done)
    },
    onData(stream, session, done) {
      const [to] = session.envelope.rcptTo.map(({ address }) => address)
      const scripted = script.data
      const what = typeof scripted === 'function' ? scripted(to ?? '') : scripted
      // In the middle of the data, before the final dot.
      if (what === 'drop') return drop()
      const save = (raw: string) =>
        act('end', to ?? '', (error) => {
          if (error) return done(error)
          const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
          const all = session.envelope.rcptTo.map(({ address }) => address)
          accepted.push({
            from,
            to: all,
            raw,
            secure: session.secure,
            user: session.user ? String(session.user) : null,
          })
          done(null, 'accepted')
        })
      // A client that ends in the middle of the data has sent no mail.
      text(stream).then(save, () => {})
    },
    ...options,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as { port: number }
  return {
    port,
    url: `${options.secure ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    accepted,
    script,
    /** Removes all acts. */
    heal: () => {
      for (const step of Object.keys(script)) delete script[step as Step]
    },
    connections: () => connections,
    mostOpen: () => most_open,
    open: () => server.connections.size,
    drop,
    close: () =>
      new Promise<void>((resolve) => {
        drop()
        server.close(() => resolve())
      }),
  }
}

/** An SMTP server for the tests of a file. After each test, it has no acts and no mails. */
export function useSmtpServer() {
  const server = use(startSmtpServer)
  afterEach(() => {
    server.heal()
    server.accepted.length = 0
  })
  return server
}
