import { isoTime, systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { writeBackup } from '../db/engines/sqlite/backup.ts'
import { restoreBackup } from '../db/engines/sqlite/restore.ts'
import type { Command } from './command.ts'

// With PostgreSQL, no server uses the SQLite file of the folder, so refuse to save or replace that file.
export function refusePostgres({ database_url }: Config, instead: string): void {
  if (database_url === null) return
  throw new Error(
    `This command is for SQLite. DATABASE_URL is PostgreSQL: use ${instead}, and keep SECRET_KEY or secret.key with it.`,
  )
}

export const backup: Command = {
  operands: ['FILE'],
  notes: [
    'When the key that encrypts webhook secrets is the file in the data folder, it is copied to FILE.key.',
    'Both belong together: keep them at a safe place. With SECRET_KEY, keep that. Nothing is overwritten.',
  ],
  async run({ operands, config, io }) {
    const settings = config()
    refusePostgres(settings, 'pg_dump')
    const { data_dir, secret_key } = settings
    const [file = '', key] = writeBackup(data_dir, operands[0] ?? '', secret_key === null)
    io.out(`Wrote ${file}`)
    if (key) io.out(`Wrote ${key}, the key of its secrets. Keep both: they belong together.`)
    if (secret_key !== null) io.out('Keep SECRET_KEY too: the secrets in it can be read with no other key.')
    return 0
  },
}

export const restore: Command = {
  operands: ['FILE'],
  notes: [
    'Stop the server first. FILE.key, if there is one, is restored too.',
    'What was there before is kept in the data folder as rapport.db.replaced-TIME.',
  ],
  async run({ operands, config, io }) {
    const settings = config()
    refusePostgres(settings, 'pg_restore')
    const { data_dir, secret_key, secret_key_old } = settings
    const [file = ''] = operands
    const now = isoTime(systemClock.now())
    const kept = await restoreBackup(data_dir, file, secret_key, now, secret_key_old)
    io.out(`Restored ${file} into ${data_dir}.`)
    for (const name of kept) io.out(`What was there before is kept as ${name}`)
    return 0
  },
}
