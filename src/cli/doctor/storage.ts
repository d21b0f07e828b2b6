import { existsSync, statfsSync, statSync } from 'node:fs'
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/db.ts'
import { durabilityProblems } from '../../db/durability.ts'
import { databaseFile } from '../../db/engines/sqlite/open.ts'
import { firstKeyFile, writeProblem } from '../../db/folder.ts'
import type { Plan } from '../../db/migrate.ts'
import { createSeal, keyFile, readSecretKey, type Seal } from '../../db/seal.ts'
import { sealed_columns, unopenedValues } from '../../db/sealed.ts'
import { command } from '../../installed.ts'
import { counted } from '../text.ts'
import { type Examined, type Finding, fault, ok, orOk, sizeOf, warning } from './finding.ts'

/** Files of the data folder that others can read, or that this user cannot write. */
export function examineFiles({ data_dir, database_url }: Config): Finding[] {
  if (process.platform === 'win32' || !existsSync(data_dir)) return []
  const database = databaseFile(data_dir)
  const problem = database_url === null ? (writeProblem(data_dir) ?? writeProblem(database)) : null
  const files = [database, `${database}-wal`, keyFile(data_dir), firstKeyFile(data_dir)]
  const open = files.filter((file) => existsSync(file) && statSync(file).mode & 0o077)
  const findings = [
    ...(problem ? [fault('files', problem.message, problem.mend)] : []),
    ...open.map((file) =>
      warning('files', `Other users of this machine can read ${file}.`, `chmod 600 ${file}`),
    ),
  ]
  return orOk(findings, 'files', `Only its owner can read the files in ${data_dir}.`)
}

const low_share = 0.1
const low_bytes = 1e9
const none_bytes = 100e6

/** The room that is left for the database of a data folder. */
export function examineDisk({ data_dir, database_url }: Config): Finding[] {
  if (database_url !== null || !existsSync(data_dir)) return []
  const { bavail, blocks, bsize } = statfsSync(data_dir)
  const free = bavail * bsize
  const text = `${sizeOf(free)} are free in ${data_dir}, ${Math.round((100 * bavail) / blocks)} %.`
  const mend = 'Make room, or set DELIVERY_LOG_DAYS lower: the delivery log needs the most.'
  if (free < none_bytes) return [fault('disk', `${text} Without room, writes are refused with 503.`, mend)]
  return free < low_bytes || bavail / blocks < low_share ? [warning('disk', text, mend)] : [ok('disk', text)]
}

const max_wal_bytes = 256e6

/** Reads the SQLite file itself; `whole` is false if the file is damaged. */
export async function examineSqliteFile(
  { db }: Examined,
  data_dir: string,
): Promise<{ findings: Finding[]; whole: boolean }> {
  const file = databaseFile(data_dir)
  const versions = await sql<{ version: string }>`SELECT sqlite_version() AS version`.execute(db)
  const checks = await sql<{ quick_check: string }>`PRAGMA quick_check(1)`.execute(db)
  const problem = checks.rows[0]?.quick_check ?? ''
  if (problem !== 'ok')
    return {
      findings: [
        fault(
          'database',
          `The file ${file} is damaged: ${problem.split('\n')[0]}`,
          `Stop the service, and restore a backup: ${command('restore FILE')}`,
        ),
      ],
      whole: false,
    }
  const wal = existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0
  const size = sizeOf(statSync(file).size)
  const findings = [
    ok('database', `SQLite ${versions.rows[0]?.version}, ${size}; the quick check found no damage.`),
  ]
  if (wal > max_wal_bytes)
    findings.push(
      warning(
        'database',
        `The write-ahead log has ${sizeOf(wal)}: a long read, such as an export, has kept it from being emptied.`,
        'End that read. The log is emptied when the service stops.',
      ),
    )
  return { findings, whole: true }
}

const max_open_minutes = 10

/** The server, its sessions and its indexes. */
export async function examinePostgres({ db }: Examined): Promise<Finding[]> {
  const { rows } = await sql<{
    version: string
    bytes: string
    standby: boolean
    used: number
    most: number
  }>`
    SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
      pg_is_in_recovery() AS standby, (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
      current_setting('max_connections')::int AS most`.execute(db)
  const { version = '', bytes = '0', standby = false, used = 0, most = 1 } = rows[0] ?? {}
  const findings = [
    ok('database', `PostgreSQL ${version}, ${sizeOf(Number(bytes))}, ${used} of ${most} connections in use.`),
  ]
  if (standby)
    findings.push(
      fault(
        'database',
        'The server of DATABASE_URL is a standby, which takes no writes.',
        'Set DATABASE_URL to the primary.',
      ),
    )
  if (used > 0.9 * most)
    findings.push(
      warning(
        'database',
        `${used} of ${most} connections are in use.`,
        'Set DATABASE_POOL_SIZE lower, or max_connections of the server higher.',
      ),
    )
  const old = await sql<{ pid: number; minutes: number }>`
    SELECT pid, (extract(epoch FROM clock_timestamp() - xact_start) / 60)::int AS minutes FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND xact_start < clock_timestamp() - make_interval(mins => ${max_open_minutes})
    ORDER BY xact_start LIMIT 5`.execute(db)
  for (const { pid, minutes } of old.rows)
    findings.push(
      warning(
        'database',
        `Session ${pid} has had a transaction open for ${minutes} minutes. Old rows stay, and queries get slower.`,
        `End it: SELECT pg_terminate_backend(${pid})`,
      ),
    )
  const broken = await sql<{ name: string }>`
    SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid`.execute(db)
  for (const { name } of broken.rows)
    findings.push(warning('database', `The index ${name} is not valid.`, `REINDEX INDEX ${name}`))
  return findings
}

/** Whether all migrations have run. */
export const examineMigrations = ({ newest, pending }: Plan): Finding =>
  pending.length
    ? warning(
        'database',
        `${counted(pending.length, 'migration has', 'migrations have')} not run: ${pending.map(({ name }) => name).join(', ')}`,
        `The next start runs them. To see what they do: ${command('upgrade --check')}`,
      )
    : ok('database', `All migrations have run, up to ${newest}.`)

/** The settings of the database that can lose writes, and whether the key opens its secrets. */
export async function examineDatabase(database: Examined, config: Config): Promise<Finding[]> {
  const findings: Finding[] = []
  // On SQLite, they are settings of a connection that writes: each start checks and logs them.
  const problems = database.engine === 'postgres' ? await durabilityProblems(database) : []
  for (const problem of problems) {
    const [first = '', ...rest] = problem.split(/(?<=\.) /)
    findings.push(fault('database', first, rest.join(' ') || 'Correct this setting of the database.'))
  }
  return [...findings, ...(await examineSeal(database, config))]
}

async function examineSeal({ db }: Examined, config: Config): Promise<Finding[]> {
  const { secret_key, secret_key_old, data_dir } = config
  const { rows } = await sql<{
    value: string
  }>`SELECT value FROM settings WHERE name = 'seal'`.execute(db)
  const [sample] = rows
  if (!sample) return []
  const key = keyThatOpens(config, sample.value)
  if (key === null)
    return [
      fault(
        'database',
        `${secret_key === null ? keyFile(data_dir) : 'SECRET_KEY'} is not the key of this database, so no process can start on it.`,
        'Set SECRET_KEY to the key of this database, or put its secret.key into DATA_DIR. Backups have it as FILE.key.',
      ),
    ]
  const findings = await lostValues(db, createSeal(key, secret_key_old))
  if (secret_key_old !== null && !findings.length) findings.push(await oldKey(db, key))
  return orOk(findings, 'database', 'The key opens the secrets of the database.')
}

/** The key of the settings, if it or the key before opens the sample; else null. */
function keyThatOpens({ secret_key, secret_key_old, data_dir }: Config, sample: string): string | null {
  // Reading it would make a new one.
  if (secret_key === null && !existsSync(keyFile(data_dir))) return null
  try {
    const key = readSecretKey(secret_key, data_dir)
    createSeal(key, secret_key_old).open(sample)
    return key
  } catch {
    return null
  }
}

/** Secrets and headers of webhooks that a lost key sealed. */
async function lostValues(db: Db, seal: Seal): Promise<Finding[]> {
  const lost = await unopenedValues(db, seal)
  if (!lost.length) return []
  return [
    fault(
      'database',
      `No key opens ${lost.join(', ')}, so deliveries of these webhooks fail.`,
      `Set SECRET_KEY_OLD to the key that sealed them, and run: ${command('rekey')} If it is lost, rotate these secrets (POST /api/v1/webhooks/ID/rotate-secret) and set these headers again.`,
    ),
  ]
}

/** Whether SECRET_KEY_OLD is still needed. */
async function oldKey(db: Db, key: string): Promise<Finding> {
  const left = await unopenedValues(db, createSeal(key), sealed_columns)
  return left.length
    ? warning(
        'database',
        'SECRET_KEY_OLD is set, and some values are still sealed with it.',
        `When all processes have both keys, run: ${command('rekey')}`,
      )
    : warning(
        'database',
        'SECRET_KEY_OLD is set, but SECRET_KEY opens everything.',
        'Remove SECRET_KEY_OLD, and restart all processes.',
      )
}
