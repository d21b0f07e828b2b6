#!/bin/sh
# nodemailer 10.6.1 (npm) reports a connection that ends after the whole message was sent like one that never opened.
#
# Source: RFC 5321, section 4.2.5: until the server answers the final dot, the client does not know whether the mail was
# taken. So a client must tell this case from a drop before the data, which is safe to repeat.
# Behaviour: SMTPConnection gives code ECONNECTION and command CONN for a drop at RCPT, before DATA's answer, and after the
# final dot. Nothing in the error says whether the message had left. The end of the message's own stream does.
# Output seen, with smtp-server 3.21.6 and nodemailer 10.6.1:
#   drop at RCPT            ECONNECTION CONN, message sent: false
#   drop after the last dot ECONNECTION CONN, message sent: true
#
# Exits with 0 while the two errors are alike, else with 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts --no-audit --no-fund nodemailer@10.6.1 smtp-server@3.21.6
cat > send.mjs <<'END'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const Connection = require('nodemailer/lib/smtp-connection')
const { SMTPServer } = require('smtp-server')

async function send(drop) {
  const sockets = new Set()
  const hangUp = () => sockets.forEach((socket) => socket.end())
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    hidePIPELINING: true,
    onRcptTo: (_address, _session, done) => (drop === 'RCPT' ? hangUp() : done()),
    onData: (stream, _session, done) => {
      stream.resume()
      stream.on('end', () => (drop === 'dot' ? hangUp() : done()))
    },
  })
  server.on('error', () => {})
  server.server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const connection = new Connection({ host: '127.0.0.1', port: server.server.address().port, ignoreTLS: true })
  const message = Readable.from(['Subject: Hello\r\n\r\nHello\r\n'])
  let sent = false
  message.on('end', () => {
    sent = true
  })
  const error = await new Promise((resolve) => {
    connection.on('error', resolve)
    connection.connect(() => {
      const envelope = { from: 'a@example.com', to: ['b@example.com'] }
      connection.send(envelope, message, (failure) => resolve(failure ?? {}))
    })
  })
  connection.close()
  server.close()
  return { code: error.code, command: error.command, sent }
}

const [early, late] = [await send('RCPT'), await send('dot')]
const said = ({ code, command, sent }) => `${code} ${command}, message sent: ${sent}`
console.log('drop at RCPT           ', said(early))
console.log('drop after the last dot', said(late))
const alike = early.code === late.code && early.command === late.command && !early.sent && late.sent
process.exit(alike ? 0 : 1)
END
timeout 60 node send.mjs
