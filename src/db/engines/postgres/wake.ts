import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { all_news, createListeners, type News } from '../../news.ts'
import { atOnce, connectionOptions, hangUp } from './connection.ts'

const channel = 'rapport_commits'
// Notifications make commits wait for each other, so they are sent beside the transactions, and at most so often.
const shortest_ms = 20
const reconnect_ms = 500
const heartbeat_ms = 10_000

// A pooler lends a server's connection for a transaction only, and to whom it belonged would get what another one asked to
// hear. It is known by its number for the connection, which is not the server's.
async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid !== (client as { processID?: number }).processID
}

/**
 * Tells listeners of commits: of this process at once, of others by LISTEN, but not through a pooler. Notifications may be
 * lost with a connection: whoever listens also looks by itself from time to time.
 */
export function createWakeUps(url: string, pool: pg.Pool) {
  const { listen, tell } = createListeners()
  const me = randomUUID()
  let closed = false
  let pooled = false
  let listening = false
  let notifying = false
  const unsent = new Set<News>()
  let client: pg.Client | null = null
  let timer: NodeJS.Timeout | undefined

  function notify() {
    if (notifying || closed || !unsent.size) return
    notifying = true
    const payload = [me, ...unsent].join(' ')
    unsent.clear()
    atOnce(pool, `NOTIFY ${channel}, '${payload}'`)
      .catch(() => {})
      .then(() => {
        setTimeout(() => {
          notifying = false
          notify()
        }, shortest_ms).unref()
      })
  }

  async function connect(): Promise<void> {
    if (closed) return
    const one = new pg.Client({ ...connectionOptions(url), connectionTimeoutMillis: 5000 })
    client = one
    let over = false
    const end = () => {
      if (over || pooled) return
      over = true
      clearTimeout(timer)
      void hangUp(one)
      if (!closed) timer = setTimeout(connect, reconnect_ms).unref()
    }
    one.on('error', end).on('end', end)
    one.on('notification', ({ payload = '' }) => {
      const [sender, ...words] = payload.split(' ')
      const news = all_news.filter((name) => words.includes(name))
      // One that names nothing that we know is of another version.
      if (sender !== me) tell(news.length ? news : all_news)
    })
    const beat = () => {
      // A connection that hangs is no better than none.
      one.query({ text: 'SELECT 1', query_timeout: heartbeat_ms } as pg.QueryConfig).then(() => {
        if (!over) timer = setTimeout(beat, heartbeat_ms).unref()
      }, end)
    }
    try {
      await one.connect()
      pooled = await isPooled(one)
      if (pooled) return void hangUp(one)
      await one.query(`LISTEN ${channel}`)
      // Whatever was committed while nobody listened.
      tell(all_news)
      beat()
    } catch {
      end()
    }
  }

  return {
    /** A transaction of this process that brought news was committed. */
    committed(news: readonly News[]) {
      tell(news)
      for (const one of news) unsent.add(one)
      notify()
    },
    listen(news: News, listener: () => void) {
      listen(news, listener)
      if (!listening) void connect()
      listening = true
    },
    async close() {
      closed = true
      clearTimeout(timer)
      if (client) await hangUp(client)
    },
  }
}
