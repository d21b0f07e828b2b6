import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { type CommitTopic, commit_topics, createListeners } from '../../commit-topics.ts'
import { atOnce, closeConnection, connectionOptions } from './connection.ts'

const channel = 'rapport_commits'
// NOTIFY serialises commits, so send it outside of the transactions, and at most every 20 ms.
const notify_interval_ms = 20
const reconnect_ms = 500
const heartbeat_ms = 10_000

// A pooler lends a server connection for one transaction, so LISTEN would reach another client. Through a pooler, the
// process id that the connection reports differs from the server's.
async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid !== (client as { processID?: number }).processID
}

/**
 * Calls listeners after commits: of this process at once, of other processes through LISTEN (not behind a pooler).
 * Notifications are lost when a connection breaks, so a listener must also poll.
 */
export function createWakeUps(url: string, pool: pg.Pool) {
  const { listen, notifyListeners } = createListeners()
  const me = randomUUID()
  let closed = false
  let pooled = false
  let listening = false
  let notifying = false
  const unsent = new Set<CommitTopic>()
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
        }, notify_interval_ms).unref()
      })
  }

  async function connect(): Promise<void> {
    if (closed) return
    const listener = new pg.Client({ ...connectionOptions(url), connectionTimeoutMillis: 5000 })
    client = listener
    let ended = false
    const end = () => {
      if (ended || pooled) return
      ended = true
      clearTimeout(timer)
      void closeConnection(listener)
      if (!closed) timer = setTimeout(connect, reconnect_ms).unref()
    }
    listener.on('error', end).on('end', end)
    listener.on('notification', ({ payload = '' }) => {
      const [sender, ...words] = payload.split(' ')
      const topics = commit_topics.filter((name) => words.includes(name))
      // An unknown topic comes from another version. Treat it as "everything changed".
      if (sender !== me) notifyListeners(topics.length ? topics : commit_topics)
    })
    const beat = () => {
      // The timeout detects a connection that hangs.
      listener.query({ text: 'SELECT 1', query_timeout: heartbeat_ms } as pg.QueryConfig).then(() => {
        if (!ended) timer = setTimeout(beat, heartbeat_ms).unref()
      }, end)
    }
    try {
      await listener.connect()
      pooled = await isPooled(listener)
      if (pooled) return void closeConnection(listener)
      await listener.query(`LISTEN ${channel}`)
      // Commits before the LISTEN were not notified.
      notifyListeners(commit_topics)
      beat()
    } catch {
      end()
    }
  }

  return {
    /** Call this after each commit of this process, with its topics. */
    committed(topics: readonly CommitTopic[]) {
      notifyListeners(topics)
      for (const topic of topics) unsent.add(topic)
      notify()
    },
    listen(topic: CommitTopic, listener: () => void) {
      listen(topic, listener)
      if (!listening) void connect()
      listening = true
    },
    async close() {
      closed = true
      clearTimeout(timer)
      if (client) await closeConnection(client)
    },
  }
}
