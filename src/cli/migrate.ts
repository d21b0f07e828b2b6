import type { Config } from '../config.ts'
import type { Command, Io } from './command.ts'
import { withDatabase } from './database.ts'

/** Runs the migrations and prints their names. */
export async function migrateDatabase(config: Config, io: Io): Promise<void> {
  const onWait = ({ message }: Error) => io.err(`rapport: ${message}`)
  for (const name of await withDatabase(config, async (_database, ran) => ran, onWait)) io.out(`Ran ${name}.`)
  io.out('The database is up to date.')
}

export const migrateCommand: Command = {
  notes: ['Every start does this, too. It can be repeated, also beside a running server.'],
  async run({ config, io }) {
    await migrateDatabase(config(), io)
    return 0
  },
}
