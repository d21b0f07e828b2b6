import { isIPv6 } from 'node:net'
import { closeAccount, lockAccount, ownedAlone, removeClosed } from '../access/people/deletion.ts'
import { inviteAnew } from '../access/people/invitations.ts'
import { accountByEmailOrId } from '../access/people/memberships.ts'
import { makeResetToken } from '../access/people/resets.ts'
import { roles } from '../access/people/roles.ts'
import { makeSetupToken } from '../access/people/setup.ts'
import { listUsers } from '../access/people/users.ts'
import { isoTime, systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { transaction } from '../db/db.ts'
import { lockEntry } from '../db/locks.ts'
import { ApiError } from '../errors.ts'
import { command_line, contextOf } from '../events/context.ts'
import { isEmail } from '../http/formats.ts'
import { command } from '../installed.ts'
import { type Command, UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { workspaceOf } from './keys.ts'
import { columns } from './text.ts'

export const setupLink: Command = {
  notes: ['Each link replaces the one before, and works once.'],
  async run({ config, io }) {
    const settings = config()
    const token = await withDatabase(settings, ({ db }) => transaction(db, makeSetupToken))
    if (!token) throw new Error(`Somebody has an account already. See: ${command('people list')}`)
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
  notes: ['The link works once, within 24 hours. Its use ends all sessions of the person.'],
  async run({ operands, config, io }) {
    const [email = ''] = operands
    const settings = config()
    const token = await withDatabase(settings, ({ db }) =>
      makeResetToken(db, systemClock, command_line, email),
    )
    if (!token) throw new Error(`Nobody has the e-mail ${email}. See: ${command('people list')}`)
    io.out(`This link sets a new password for ${email}. It works once, within 24 hours:`)
    io.out(linkOf(settings, `/reset#${token}`))
    return 0
  },
}

export const remove: Command = {
  operands: ['EMAIL'],
  options: {
    ownerless: { value: 'yes', about: 'yes: even if a workspace is left without an owner; default: no' },
  },
  notes: [
    `EMAIL may be an id of \`${command('people list')}\`. The command ends the sessions, and removes personal data from the audit log.`,
    `Keys and records stay. To give a workspace an owner: ${command('people invite EMAIL --workspace ID')}`,
  ],
  async run({ operands, options, config, io }) {
    const [who = ''] = operands
    const { ownerless = 'no' } = options
    if (!['yes', 'no'].includes(ownerless)) throw new UsageError('--ownerless must be yes or no.')
    const { email, alone } = await withDatabase(config(), async ({ db }) => {
      const user = await accountByEmailOrId(db, who)
      if (!user) throw new Error(`Nobody has the e-mail ${who}. See: ${command('people list')}`)
      const alone = await ownedAlone(db, user.id)
      if (alone.length && ownerless === 'no')
        throw new Error(
          `${user.email} is the only owner of ${alone.join(', ')}. Invite another owner first: ${command('people invite EMAIL --workspace ID')}. Or add --ownerless yes.`,
        )
      const now_ms = systemClock.now()
      const { elapsed } = systemClock
      const context = { actor: command_line, request_id: null, now: isoTime(now_ms), now_ms, elapsed }
      await transaction(db, async (tx) => {
        await lockAccount(tx, user.id)
        await closeAccount(tx, context, user.id)
      })
      await removeClosed(db, user.id, context.now)
      return { email: user.email, alone }
    })
    io.out(`Deleted the account of ${email}.`)
    if (alone.length) io.out(`No owner is left of ${alone.join(', ')}.`)
    return 0
  },
}

export const invite: Command = {
  operands: ['EMAIL'],
  options: {
    workspace: { value: 'ID', about: 'Which one; default: the only one' },
    role: { value: 'ROLE', about: `One of ${roles.join(', ')}; default: owner` },
  },
  notes: [
    'The link works once, within 7 days. It replaces an earlier invitation of the e-mail to the workspace.',
  ],
  async run({ operands, options, config, io }) {
    const email = (operands[0] ?? '').trim()
    if (!isEmail(email)) throw new Error(`"${email}" is not an e-mail address.`)
    const asked = options.role ?? 'owner'
    const role = roles.find((known) => known === asked)
    if (!role) throw new Error(`There is no role "${asked}". The roles are: ${roles.join(', ')}.`)
    const settings = config()
    const { workspace_id, token } = await withDatabase(settings, async ({ db }) => {
      const workspace_id = await workspaceOf(db, options.workspace)
      const context = contextOf(systemClock, { workspace_id, actor: command_line, request_id: null })
      const { token } = await transaction(db, async (tx) => {
        await lockEntry(tx, 'workspaces', workspace_id)
        return inviteAnew(tx, context, { email, role, grantor: 'owner' })
      }).catch((error) => {
        throw error instanceof ApiError ? new Error(error.fields?.[0]?.message ?? error.message) : error
      })
      return { workspace_id, token }
    })
    io.out(`This link lets ${email} join workspace ${workspace_id} as ${role}. It works once, within 7 days:`)
    io.out(linkOf(settings, `/invitation#${token}`))
    return 0
  },
}

// Without PUBLIC_URL the external address is unknown. Only the path of the link is then certain.
function linkOf({ host, port, public_url }: Config, path: string): string {
  if (public_url) return public_url + path
  const own = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${isIPv6(own) ? `[${own}]` : own}${port ? `:${port}` : ''}${path}`
}
