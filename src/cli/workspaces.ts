import { insertWorkspace, listWorkspaces } from '../access/workspaces.ts'
import { systemClock } from '../clock.ts'
import { transaction } from '../db/db.ts'
import { command_line } from '../events/context.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { columns, nameOf } from './text.ts'

export const create: Command = {
  options: { name: { value: 'N', about: 'What to call it', required: true } },
  async run({ options, config, io }) {
    const name = nameOf(options.name)
    const id = await withDatabase(config(), ({ db }) =>
      transaction(db, (tx) => insertWorkspace(tx, systemClock, command_line, name)),
    )
    io.out(`Made the workspace ${name}. Its id:`)
    io.out(String(id))
    return 0
  },
}

export const list: Command = {
  async run({ config, io }) {
    const workspaces = await withDatabase(config(), ({ db }) => listWorkspaces(db))
    for (const line of columns(
      ['ID', 'CREATED', 'NAME'],
      workspaces.map(({ id, created_at, name }) => [String(id), created_at, name]),
    ))
      io.out(line)
    return 0
  },
}
