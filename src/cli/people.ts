import { isIPv6 } from 'node:net'
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { transaction } from '../db/db.ts'
import { command_line } from '../events/context.ts'
import { makeResetToken } from '../people/resets.ts'
import { makeSetupToken } from '../people/setup.ts'
import { listUsers } from '../people/users.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { columns } from './text.ts'

export const setupLink: Command = {
  notes: ['Each link takes the place of the one before, and can be used once.'],
  async run({ config, io }) {
    const settings = config()
    const token = await withDatabase(settings, ({ db }) => transaction(db, makeSetupToken))
    if (!token) throw new Error('Somebody has an account already. See: rapport people list')
    io.out('Open this to create your account:')
    io.out(linkOf(settings, `/setup#${token}`))
    return 0
  },
}

export const list: Command = {
  async run({ config, io }) {
    const users = await withDatabase(config(), ({ db }) => listUsers(db))
    const rows = users.map(({ id, created_at, email, name }) => [id, created_at, email, name])
    for (const line of columns(['ID', 'CREATED', 'E-MAIL', 'NAME'], rows)) io.out(line)
    return 0
  },
}

export const resetPassword: Command = {
  operands: ['EMAIL'],
  notes: [
    'The link can be used once, for 24 hours. Then all sessions of this person end; until then nothing changes.',
  ],
  async run({ operands, config, io }) {
    const [email = ''] = operands
    const settings = config()
    const token = await withDatabase(settings, ({ db }) =>
      makeResetToken(db, systemClock, command_line, email),
    )
    if (!token) throw new Error(`Nobody has the e-mail ${email}. See: rapport people list`)
    io.out(`With this link a new password for ${email} can be set, once, for 24 hours:`)
    io.out(linkOf(settings, `/reset#${token}`))
    return 0
  },
}

// Where the service is reached from outside is not known here: the path is what counts.
function linkOf({ host, port }: Config, path: string): string {
  const own = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${isIPv6(own) ? `[${own}]` : own}${port ? `:${port}` : ''}${path}`
}
