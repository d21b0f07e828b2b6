import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { engine, removeScratch } from '../../engine.ts'
import { createDatabase, startPostgres } from '../../postgres.ts'
import type { Play } from './play.ts'

/**
 * The processes of a history: one on SQLite, four on PostgreSQL. The PostgreSQL server flushes to disk, and is
 * restarted at random.
 */
export async function createSetting() {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-history-'))
  const both = 'api,dispatcher'
  if (engine === 'sqlite') {
    const wishes: Pick<Play, 'data_dir' | 'processes'> = { data_dir, processes: [both] }
    return { wishes, close: () => removeScratch(data_dir) }
  }
  const server = await startPostgres({ fsync: true })
  const wishes: Pick<Play, 'data_dir' | 'processes' | 'env' | 'others'> = {
    data_dir,
    processes: [both, both, 'api', 'dispatcher'],
    env: {
      DATABASE_URL: await createDatabase(server.url, 'history'),
      SECRET_KEY: 'a secret key for histories of tests',
    },
    others: {
      async 'crash the database'() {
        await server.halt('immediate')
        await pause(500)
        await server.start()
      },
    },
  }
  return {
    wishes,
    async close() {
      await server.stop()
      await removeScratch(data_dir)
    },
  }
}
