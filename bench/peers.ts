import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { Agent } from 'undici'
import type { Databases } from './databases.ts'
import { measureDeliveries, type Post, type PostAll } from './deliveries.ts'
import type { Request } from './load.ts'
import { compareRates, type Extent } from './ratios.ts'
import { head } from './record.ts'
import { create, get, oneOf, someId, update } from './requests.ts'
import { companies, words } from './seed.ts'
import { start, startRapport } from './servers.ts'

// Alternatives from npm, on the same PostgreSQL server. Each is installed into a scratch folder.

/** Installs packages of npm without their install scripts, and passes their folder on. */
async function installed<T>(manifest: object, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-peers-'))
  try {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }))
    const words = ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']
    execFileSync('npm', words, { cwd: folder, stdio: 'inherit' })
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The parts of graphile-worker that this file uses. */
type GraphileWorker = {
  makeWorkerUtils(options: { connectionString: string }): Promise<{
    migrate(): Promise<void>
    addJobs(jobs: { identifier: string; payload: Post }[]): Promise<unknown>
    release(): Promise<void>
  }>
  run(options: object): Promise<{ stop(): Promise<void> }>
  Logger: new (of: () => () => void) => object
}

/** Compares deliveries with jobs of graphile-worker, each of which sends one request. */
export const measureWorker = (
  databases: Databases,
  { count, rounds }: { count: number; rounds: number },
): Promise<string[]> =>
  installed({ dependencies: { 'graphile-worker': '0.18.0' } }, async (folder) => {
    const worker: GraphileWorker = createRequire(join(folder, 'package.json'))('graphile-worker')
    const connectionString = (await databases.empty('worker')) as string
    const utils = await worker.makeWorkerUtils({ connectionString })
    await utils.migrate()
    const postAll: PostAll = async (url, posts, concurrency) => {
      for (let from = 0; from < posts.length; from += 1000)
        await utils.addJobs(
          posts.slice(from, from + 1000).map((payload) => ({ identifier: 'deliver', payload })),
        )
      const agent = new Agent({ connections: concurrency, pipelining: 1, keepAliveTimeout: 30_000 })
      const { origin, pathname } = new URL(url)
      let left = posts.length
      const deliver = async (post: Post) => {
        const { statusCode, body } = await agent.request({ origin, path: pathname, method: 'POST', ...post })
        await body.text()
        if (statusCode !== 200) throw new Error(`The receiver answered ${statusCode}.`)
        left--
      }
      const before = performance.now()
      // The settings that its documentation advises for many jobs, and as many connections as its log asks for.
      const settings = {
        concurrentJobs: concurrency,
        maxPoolSize: concurrency,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
      }
      const running = await worker.run({
        connectionString,
        taskList: { deliver },
        noHandleSignals: true,
        crontab: '',
        // By default, it writes a line for each job, which costs a part of the rate.
        logger: new worker.Logger(() => () => {}),
        preset: { worker: settings },
      })
      while (left > 0) await pause(2)
      // A stop waits until the jobs are removed.
      await running.stop()
      const seconds = (performance.now() - before) / 1000
      await agent.close()
      return posts.length / seconds
    }
    const database_url = await databases.empty('deliveries')
    const other = { name: 'graphile-worker', postAll }
    const lines = await measureDeliveries({ database_url, count, rounds, wanted: [1.2, 1.2], other })
    await utils.release()
    return lines
  })

// The version of isolated-vm that Directus wants has no binary for Node 24.
const directus = { dependencies: { directus: '11.17.4' }, overrides: { 'isolated-vm': '6.1.2' } }

/** Compares requests with the same ones of Directus. */
export const measureDirectus = (databases: Databases, extent: Extent): Promise<string[]> =>
  installed(directus, async (folder) => {
    const { contacts, only } = extent
    const mine = await databases.fill('rapport', contacts)
    const url = (await databases.empty('directus')) as string
    const token = randomBytes(16).toString('hex')
    const env = {
      // Without it, a part of Directus makes its folder in /etc.
      HOME: folder,
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      SECRET: token,
      DB_CLIENT: 'pg',
      DB_CONNECTION_STRING: url,
      ADMIN_EMAIL: 'bench@example.com',
      ADMIN_PASSWORD: token,
      ADMIN_TOKEN: token,
      TELEMETRY: 'false',
      // Under load, it would answer 503.
      PRESSURE_LIMITER_ENABLED: 'false',
    }
    const program = join(folder, 'node_modules/directus/cli.js')
    const { PATH = '' } = process.env
    const options = { cwd: folder, env: { PATH, ...env, LOG_LEVEL: 'warn' }, stdio: 'inherit' as const }
    execFileSync(process.execPath, [program, 'bootstrap'], options)
    const other = await start([program, 'start'], env, folder)
    await createCollection(other.port, token)
    await copyContacts(mine.target, url)
    const rapport = await startRapport(mine)

    const ask = (method: string, rest: string, body?: object): Request => ({
      method,
      path: `/items/contacts${rest}`,
      headers: { Authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const list = '?limit=25&sort=-id&meta=filter_count'
    const read = get(mine.key)
    const company = () => (someId(contacts) % companies) + 1
    const page = Math.ceil(contacts / 100)
    let n = 0
    const person = () => ({ first_name: `New${n++}`, last_name: `Person${n}`, email: `new${n}@example.com` })
    const cases: [string, () => Request, () => Request][] = [
      ['get', () => ask('GET', `/${someId(contacts)}`), () => read(`/${someId(contacts)}`)],
      ['list (25 rows + total)', () => ask('GET', list), () => read('')],
      ['deep page', () => ask('GET', `${list}&page=${page}`), () => read(`?page=${page}`)],
      [
        'filter (one company)',
        () => ask('GET', `${list}&filter[company_id][_eq]=${company()}`),
        () => read(`?company_id=${company()}`),
      ],
      ['search', () => ask('GET', `${list}&search=${oneOf(words)}`), () => read(`?search=${oneOf(words)}`)],
      [
        'update',
        () => ask('PATCH', `/${someId(contacts)}`, { phone: `+49 30 ${n++}` }),
        () => update(mine.key, someId(contacts)),
      ],
      ['create', () => ask('POST', '', person()), () => create(mine.key)],
    ]
    const lines = head('request', 'Directus, per second', 'Rapport, per second', 'ratio (median)')
    for (const [name, theirs, ours] of cases) {
      if (!only.test(name)) continue
      const sides = { bare: { port: other.port, next: theirs }, rapport: { port: rapport.port, next: ours } }
      lines.push(await compareRates(name, sides, extent, null))
    }
    await rapport.stop()
    await other.stop()
    return lines
  })

const fields = ['first_name', 'last_name', 'email', 'phone', 'stage', 'created_at']

async function createCollection(port: number, token: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/collections`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      collection: 'contacts',
      meta: {},
      schema: {},
      fields: [
        {
          field: 'id',
          type: 'integer',
          meta: {},
          schema: { is_primary_key: true, has_auto_increment: true },
        },
        { field: 'company_id', type: 'integer', meta: {}, schema: { is_indexed: true } },
        ...fields.map((field) => ({ field, type: 'string', meta: {}, schema: {} })),
      ],
    }),
  })
  if (!response.ok) throw new Error(`Directus has no collection: ${await response.text()}`)
}

async function copyContacts(from: string, to: string): Promise<void> {
  const source = new pg.Pool({ connectionString: from, max: 1 })
  const target = new pg.Pool({ connectionString: to, max: 1 })
  const names = ['id', 'company_id', ...fields].join()
  for (let after = 0; ; after += 5000) {
    const { rows } = await source.query(
      `SELECT json_agg(c) AS list FROM (SELECT ${names} FROM contacts WHERE id > ${after} AND id <= ${after + 5000}) c`,
    )
    if (!rows[0].list) break
    await target.query(
      `INSERT INTO contacts (${names}) SELECT ${names} FROM json_populate_recordset(null::contacts, $1)`,
      [JSON.stringify(rows[0].list)],
    )
  }
  await target.query("SELECT setval(pg_get_serial_sequence('contacts', 'id'), max(id)) FROM contacts")
  await target.query('VACUUM (ANALYZE) contacts')
  await source.end()
  await target.end()
}

async function freePort(): Promise<number> {
  const socket = createServer()
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve))
  const { port } = socket.address() as { port: number }
  await new Promise((resolve) => socket.close(resolve))
  return port
}
