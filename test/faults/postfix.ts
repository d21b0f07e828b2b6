import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../ports.ts'

const run = promisify(execFile)
const program = '/usr/sbin/postfix'
const master = '/etc/postfix/master.cf'

/** Why no postfix can be started here; null if one can. It needs the package of Debian, and root. */
export const missingPostfix = (): string | null =>
  !existsSync(program) || !existsSync(master)
    ? 'postfix is not installed: apt-get install postfix'
    : process.getuid?.() !== 0
      ? 'postfix can be started by root alone'
      : null

/** A postfix with a folder of its own, on a free port of loopback. It delivers all mails to example.com into one Maildir. */
export async function startPostfix() {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-postfix-'))
  chmodSync(folder, 0o755)
  const [conf = '', queue = '', data = '', mail = ''] = ['conf', 'queue', 'data', 'mail'].map((name) => {
    mkdirSync(join(folder, name))
    return join(folder, name)
  })
  const port = await freePort()
  const [uid, gid] = ['-u', '-g'].map((which) => execFileSync('id', [which, 'postfix']).toString().trim())
  const settings = {
    compatibility_level: '3.6',
    queue_directory: queue,
    data_directory: data,
    mail_owner: 'postfix',
    setgid_group: 'postdrop',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    mydestination: '',
    virtual_mailbox_domains: 'example.com',
    virtual_mailbox_base: mail,
    virtual_mailbox_maps: 'static:box/',
    virtual_minimum_uid: '100',
    virtual_uid_maps: `static:${uid}`,
    virtual_gid_maps: `static:${gid}`,
    maillog_file: join(data, 'mail.log'),
    maillog_file_prefixes: folder,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(conf, 'main.cf'), `${lines.join('\n')}\n`)
  // As Debian has it, with another port, and no service in a chroot.
  const services = readFileSync(master, 'utf8')
    .replace(/^smtp +inet.*$/m, `127.0.0.1:${port} inet n - n - - smtpd`)
    .replaceAll(/^(\S+\s+(?:inet|unix|fifo|pass|unix-dgram)\s+\S+\s+\S+\s+)\S+/gm, '$1n')
  writeFileSync(join(conf, 'master.cf'), services)
  execFileSync('chown', ['-R', 'postfix:postfix', data, mail])
  const command = (word: string) => run(program, ['-c', conf, word]).catch(() => {})
  await command('start')
  const box = join(mail, 'box', 'new')
  return {
    url: `smtp://127.0.0.1:${port}`,
    maildir: join(mail, 'box'),
    start: () => command('start'),
    stop: () => command('stop'),
    /** The messages in the Maildir. */
    mails: () =>
      existsSync(box) ? readdirSync(box).map((name) => readFileSync(join(box, name), 'utf8')) : [],
    async close() {
      await command('abort')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
