import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../ports.ts'

// It goes on in the background, with what it inherits.
const run = (...words: string[]) => execFileSync(program, words, { stdio: 'ignore' })
const program = '/usr/sbin/dovecot'

/** Why no dovecot can be started here; null if one can. It needs the package of Debian, and root. */
export const missingDovecot = (): string | null =>
  !existsSync(program)
    ? 'dovecot is not installed: apt-get install dovecot-imapd'
    : process.getuid?.() !== 0
      ? 'dovecot can be started by root alone'
      : null

/** A dovecot with a folder of its own, on a free port of loopback. Each user has the same Maildir and password. */
export async function startDovecot(maildir: string) {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-dovecot-'))
  const base = join(folder, 'run')
  mkdirSync(base)
  const port = await freePort()
  const conf = join(folder, 'dovecot.conf')
  writeFileSync(
    conf,
    `base_dir = ${base}
log_path = ${join(folder, 'log')}
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = 1
mail_location = maildir:${maildir}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=postfix gid=postfix home=${folder}
}
`,
  )
  run('-c', conf)
  return {
    /** The messages of the Maildir, as a mail program reads them by IMAP. */
    mails: () => readAll(port),
    async close() {
      run('-c', conf, 'stop')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function readAll(port: number): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  /** Sends a command, and waits for its end. */
  const command = async (tag: string, words: string) => {
    text = ''
    socket.write(`${tag} ${words}\r\n`)
    while (!new RegExp(`^${tag} (OK|NO|BAD)`, 'm').test(text)) await once(socket, 'data')
    if (!new RegExp(`^${tag} OK`, 'm').test(text)) throw new Error(text)
    return text
  }
  try {
    await command('a', 'LOGIN person secret')
    await command('b', 'SELECT INBOX')
    const answer = await command('c', 'FETCH 1:* BODY.PEEK[]')
    const found: string[] = []
    for (const { index, 0: head, 1: size } of answer.matchAll(/BODY\[\] \{(\d+)\}\r\n/g)) {
      const start = index + head.length
      found.push(Buffer.from(answer.slice(start, start + Number(size)), 'latin1').toString())
    }
    return found
  } finally {
    socket.destroy()
  }
}
