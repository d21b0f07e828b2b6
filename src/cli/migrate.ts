import type { Command } from './command.ts'
import { withDatabase } from './database.ts'

export const migrateCommand: Command = {
  notes: ['Every start does this, too. It can be repeated, also beside a running server.'],
  async run({ config, io }) {
    const ran = await withDatabase(config(), async (_database, ran) => ran)
    for (const name of ran) io.out(`Ran ${name}.`)
    io.out('The database is up to date.')
    return 0
  },
}
