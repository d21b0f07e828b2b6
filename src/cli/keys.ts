import { insertKey, revokeKey } from '../access/keys/keys.ts'
import { listKeys } from '../access/keys/queries.ts'
import { firstWorkspace, listWorkspaces } from '../access/workspaces.ts'
import { systemClock } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { command_line, contextOf } from '../events/context.ts'
import { command } from '../installed.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { columns, nameOf } from './text.ts'

export const create: Command = {
  options: {
    name: { value: 'N', about: 'What the key is for', required: true },
    scopes: { value: 'a,b', about: 'What it may do, such as contacts:read,deals:write; default: everything' },
    expires: { value: 'DATE', about: 'When it ends: a day (its start, UTC) or an ISO time; default: never' },
    workspace: { value: 'ID', about: 'Its workspace; default: the only one' },
  },
  async run({ options, config, io }) {
    const name = nameOf(options.name)
    const scopes = options.scopes === undefined ? null : await scopesOf(options.scopes)
    const expires_at = options.expires === undefined ? null : futureTime(options.expires, systemClock.now())
    const { id, token, workspace_id } = await withDatabase(config(), async ({ db }) => {
      const workspace_id = await workspaceOf(db, options.workspace)
      const context = contextOf(systemClock, { workspace_id, actor: command_line, request_id: null })
      const key = await transaction(db, (tx) => insertKey(tx, context, { name, scopes, expires_at }))
      return { ...key, workspace_id }
    })
    io.out(`Made the key ${id} for workspace ${workspace_id}. It is shown this once:`)
    io.out(token)
    return 0
  },
}

export const list: Command = {
  notes: [`To revoke a key: ${command('keys revoke ID')}`],
  async run({ config, io }) {
    const keys = await withDatabase(config(), ({ db }) => listKeys(db))
    for (const line of columns(
      ['ID', 'WORKSPACE', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED', 'SCOPES', 'NAME'],
      keys.map((key) => [
        key.id,
        String(key.workspace_id),
        key.created_at,
        key.expires_at ?? 'never',
        key.last_used_at ?? 'never',
        key.revoked_at ?? 'no',
        key.scopes === null ? 'all' : (JSON.parse(key.scopes) as string[]).join(','),
        key.name,
      ]),
    ))
      io.out(line)
    return 0
  },
}

export const revoke: Command = {
  operands: ['ID'],
  notes: [`For the ids: ${command('keys list')}`],
  async run({ operands, config, io }) {
    const [id = ''] = operands
    const found = await withDatabase(config(), ({ db }) => revokeKey(db, systemClock, command_line, id))
    if (!found) throw new Error(`There is no key with the id ${id}. See: ${command('keys list')}`)
    io.out(`Revoked ${id}.`)
    return 0
  },
}

async function scopesOf(text: string): Promise<string[]> {
  const { scopes } = await import('../app.ts')
  const asked = [...new Set(text.split(',').map((part) => part.trim()))]
  const unknown = asked.filter((scope) => !scopes.includes(scope))
  if (unknown.length)
    throw new Error(`There is no scope "${unknown.join('", "')}". The scopes are: ${scopes.join(', ')}.`)
  return asked
}

/** Converts a day (its start) or an ISO 8601 time with a zone to UTC with milliseconds. Throws unless it is in the future. */
export function futureTime(text: string, now_ms: number): string {
  const [, day] =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? []
  const ms = Date.parse(text)
  // Date.parse accepts 30 February as 2 March.
  if (!day || Number.isNaN(ms) || new Date(`${day}T00:00Z`).toISOString().slice(0, 10) !== day)
    throw new Error(
      `--expires must be a day or a time with its zone, such as 2027-12-31 or 2027-12-31T18:00:00Z.`,
    )
  if (ms <= now_ms)
    throw new Error(`--expires must be in the future: ${new Date(ms).toISOString()} is in the past.`)
  return new Date(ms).toISOString()
}

/** The given workspace, or the only one. Creates one if there is none. Throws when several exist and none is given. */
export async function workspaceOf(db: Db, asked: string | undefined): Promise<number> {
  if (asked === undefined) {
    const made = await transaction(db, (tx) => firstWorkspace(tx, systemClock, command_line))
    if (made !== null) return made
  }
  const workspaces = await listWorkspaces(db)
  const [only] = workspaces
  if (asked === undefined && only && workspaces.length === 1) return only.id
  const chosen = workspaces.find(({ id }) => String(id) === asked)
  if (chosen) return chosen.id
  const known = workspaces.map(({ id, name }) => `${id} (${name})`).join(', ') || 'none yet'
  throw new Error(
    asked === undefined
      ? `There are several workspaces. Choose one with --workspace ID. They are: ${known}.`
      : `There is no workspace ${asked}. They are: ${known}.`,
  )
}
