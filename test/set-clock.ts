import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { engine, settingsOf } from './engine.ts'

/**
 * A clock that a test sets while a service runs in other processes, as an administrator or NTP would. On SQLite it is
 * the clock of these processes, by `env`. On PostgreSQL it is the clock of the server, for new connections. Nothing
 * else of the machine changes. The database is that of the folder unless a url is given.
 */
export async function settableClock(
  data_dir: string,
  url?: string,
): Promise<{ env: Record<string, string>; set(ms: number): Promise<void> }> {
  if (engine === 'sqlite') return processClock(data_dir)
  return serverClock(url ?? String((await settingsOf(data_dir)).DATABASE_URL))
}

// Every process that inherits the variable, also a worker of a worker, follows the file.
async function processClock(data_dir: string) {
  const file = join(data_dir, 'clock-ms')
  const set = async (ms: number) => writeFileSync(file, String(ms))
  await set(0)
  const code = `
    import { readFileSync } from 'node:fs'
    const now = Date.now
    let ms = 0
    const read = () => { try { ms = Number(readFileSync(${JSON.stringify(file)}, 'utf8')) } catch {} }
    read()
    setInterval(read, 10).unref()
    Date.now = () => now() + ms`
  return { env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` }, set }
}

async function serverClock(url: string) {
  const query = async (text: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return await client.query(text)
    } finally {
      await client.end()
    }
  }
  const database = new URL(url).pathname.slice(1)
  await query(`
    CREATE TABLE clock_set (ms float8 NOT NULL);
    INSERT INTO clock_set VALUES (0);
    CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      'SELECT pg_catalog.clock_timestamp() + (SELECT ms FROM clock_set) * interval ''1 millisecond''';
    ALTER DATABASE ${pg.escapeIdentifier(database)} SET search_path = public, pg_catalog`)
  return { env: {}, set: async (ms: number) => void (await query(`UPDATE clock_set SET ms = ${ms}`)) }
}
