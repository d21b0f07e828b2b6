import { statfsSync, statSync } from 'node:fs'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import { writeBackup } from '../db/engines/sqlite/backup.ts'
import { databaseFile, hasDatabase } from '../db/engines/sqlite/open.ts'
import { openUnchanged } from '../db/engines/sqlite/snapshot.ts'
import { type Migration, type Plan, planMigrations } from '../db/migrate.ts'
import { migrations } from '../db/migrations/index.ts'
import { command_suspect_after_ms, openDatabase } from '../db/open.ts'
import { command } from '../installed.ts'
import { columnsOf, isInstallation } from '../move/tables.ts'
import { version } from '../version.ts'
import { refusePostgres } from './backup.ts'
import type { Command, Io } from './command.ts'
import { migrateDatabase } from './migrate.ts'
import { columns } from './text.ts'

const migrations_to_run = 3

export const upgrade: Command = {
  options: {
    backup: { value: 'FILE', about: 'SQLite: write a backup first, also when no migration is pending' },
  },
  flags: {
    check: 'Change nothing: show what would run, how long it takes, and whether servers may keep running',
  },
  notes: [
    `--check exits with 0 if the database is up to date, with ${migrations_to_run} if migrations would run, with 1 on an error.`,
    'Every start runs the migrations by itself, without a backup.',
  ],
  async run({ options, flags, config, io }) {
    const settings = config()
    if (options.backup !== undefined) refusePostgres(settings, 'pg_dump')
    const found = await look(settings)
    if (flags.has('check')) return report(found, settings, io)
    if (options.backup !== undefined && found.plan.newest !== null)
      for (const file of writeBackup(settings.data_dir, options.backup, settings.secret_key === null))
        io.out(`Wrote ${file}`)
    await migrateDatabase(settings, io)
    return 0
  },
}

type Found = { plan: Plan; rows: Record<string, number>; bytes: number }

const empty: Found = { plan: { newest: null, pending: migrations, unknown: [] }, rows: {}, bytes: 0 }

/** Reads the plan, the sizes of the tables that pending migrations scan, and the size of the database. */
async function look(settings: Config): Promise<Found> {
  // Opening a SQLite database would create it.
  if (settings.database_url === null && !hasDatabase(settings.data_dir)) return empty
  const { db, close } =
    settings.database_url === null
      ? openUnchanged(databaseFile(settings.data_dir))
      : await openDatabase({ ...settings, suspect_after_ms: command_suspect_after_ms })
  try {
    if (!(await isInstallation(db))) return empty
    const plan = await planMigrations(db)
    const scanned = new Set(plan.pending.flatMap(({ scans = [] }) => scans))
    const rows: Record<string, number> = {}
    for (const table of scanned) rows[table] = await countTable(db, table)
    return { plan, rows, bytes: await bytesOf(db, settings) }
  } finally {
    await close()
  }
}

// A pending migration may make the table.
async function countTable(db: Db, table: string): Promise<number> {
  if (Object.keys(await columnsOf(db, table)).length === 0) return 0
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}`.execute(db)
  return rows[0]?.n ?? 0
}

async function bytesOf(db: Db, { database_url, data_dir }: Config): Promise<number> {
  if (database_url === null) return statSync(databaseFile(data_dir)).size
  const { rows } = await sql<{ bytes: number }>`SELECT pg_database_size(current_database()) AS bytes`.execute(
    db,
  )
  return Number(rows[0]?.bytes ?? 0)
}

function report({ plan, rows, bytes }: Found, settings: Config, io: Io): number {
  const { newest, pending, unknown } = plan
  io.out(`Program   ${version}, migrations up to ${migrations.at(-1)?.name}`)
  io.out(`Database  ${newest === null ? 'none yet' : `migrations up to ${newest}`}`)
  if (unknown.length) io.out('A newer version has only added to the database, so this version can serve it.')
  if (pending.length === 0) {
    io.out('The database is up to date.')
    return 0
  }
  io.out('')
  for (const line of columns(
    ['MIGRATION', 'KIND', 'TIME'],
    pending.map((one) => row(one, rows)),
  ))
    io.out(line)
  io.out('')
  if (newest === null) io.out('The first start creates the database.')
  else for (const line of advice(pending, bytes, settings)) io.out(line)
  return migrations_to_run
}

// A new search index took 30 us for each contact, more than other migrations.
const row_us = 30

function row({ name, kind, scans = [] }: Migration, rows: Record<string, number>): string[] {
  const count = scans.reduce((sum, table) => sum + (rows[table] ?? 0), 0)
  const seconds = Math.ceil((count * row_us) / 1e6)
  return [
    name,
    kind,
    seconds > 1 ? `about ${seconds} s, for ${count} rows of ${scans.join(', ')}` : 'at most 1 s',
  ]
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`

function advice(pending: readonly Migration[], bytes: number, { database_url, data_dir }: Config): string[] {
  const servers = pending.some(({ kind }) => kind === 'contract')
    ? 'Servers: stop all processes of older versions first. A contract migration removes or changes what they use.'
    : 'Servers: processes of the version before can keep running. Their writes wait while a migration runs.'
  if (database_url !== null)
    return [
      servers,
      `Disk:    the database has ${megabytes(bytes)}. Check the free space of its server.`,
      'Backup:  make one with pg_dump, and keep SECRET_KEY or secret.key with it.',
    ]
  const { bavail, bsize } = statfsSync(data_dir)
  const free = bavail * bsize
  return [
    servers,
    `Disk:    the database has ${megabytes(bytes)}, and ${megabytes(free)} are free in ${data_dir}.${free < 2 * bytes ? ' Make room: an upgrade with a backup may need twice the size of the database.' : ''}`,
    `Backup:  Rapport does not know your backups. Make one with: ${command('upgrade --backup FILE')}`,
  ]
}
