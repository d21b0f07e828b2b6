import { checkSeal, createSeal, readSecretKey } from '../db/seal.ts'
import { rekeyAll } from '../db/sealed.ts'
import { command } from '../installed.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { counted } from './text.ts'

export const rekey: Command = {
  notes: [
    'First set SECRET_KEY to the new key and SECRET_KEY_OLD to the one before, and restart all processes.',
    'It can be stopped, repeated, and run while the service runs.',
  ],
  async run({ config, io }) {
    const settings = config()
    const { secret_key, secret_key_old, data_dir } = settings
    if (secret_key_old === null)
      throw new Error('SECRET_KEY_OLD is not set. Set it to the key before, and SECRET_KEY to the new one.')
    const key = readSecretKey(secret_key, data_dir)
    const { resealed, unopened } = await withDatabase(settings, async ({ db }) => {
      await checkSeal(db, createSeal(key, secret_key_old), secret_key)
      return rekeyAll(db, key, secret_key_old)
    })
    io.out(`${counted(resealed, 'value was', 'values were')} sealed again.`)
    if (unopened.length) {
      for (const place of unopened) io.err(`Neither key opens ${place}.`)
      io.err(
        'Set SECRET_KEY_OLD to the key that opens them and repeat this, or rotate these secrets and set these headers again.',
      )
      return 1
    }
    io.out('SECRET_KEY opens everything. If all processes have it, remove SECRET_KEY_OLD and restart them.')
    io.out(`If a process still has only the key before, restart it and repeat: ${command('rekey')}`)
    return 0
  },
}
