import { systemClock } from '../../clock.ts'
import { type Config, ConfigError } from '../../config.ts'
import { databaseFile, hasDatabase } from '../../db/engines/sqlite/open.ts'
import { openUnchanged } from '../../db/engines/sqlite/snapshot.ts'
import { planMigrations } from '../../db/migrate.ts'
import { openDatabase } from '../../db/open.ts'
import { command } from '../../installed.ts'
import { isInstallation } from '../../move/tables.ts'
import { setZoneFolder } from '../../zones/zones.ts'
import type { Command, Given } from '../command.ts'
import { examineClock, examineTrash, readLife } from './clock.ts'
import { examineQueue, examineWebhooks } from './deliveries.ts'
import { type Examined, type Finding, fault, ok } from './finding.ts'
import { examineMail } from './mail.ts'
import { examineSettings } from './settings.ts'
import {
  examineDatabase,
  examineDisk,
  examineFiles,
  examineMigrations,
  examinePostgres,
  examineSqliteFile,
} from './storage.ts'
import { examineZones } from './zones.ts'

export const doctor: Command = {
  flags: { json: 'Print one JSON object: {"status", "findings": [{"area", "level", "message", "mend"}]}' },
  notes: [
    'It changes no data, and runs beside a service. Each line is ok, a warning or a fault, with what mends it.',
    'The exit code is 1 if there is a fault. Run it with the settings and as the user of the service.',
  ],
  async run(given) {
    const findings = await examine(given)
    const status = (['fault', 'warning'] as const).find((level) =>
      findings.some((one) => one.level === level),
    )
    if (given.flags.has('json')) given.io.out(JSON.stringify({ status: status ?? 'ok', findings }))
    else for (const line of linesOf(findings)) given.io.out(line)
    return status === 'fault' ? 1 : 0
  },
}

function linesOf(findings: Finding[]): string[] {
  return findings.flatMap(({ area, level, message, mend }) => [
    `${level.padEnd(8)} ${area.padEnd(9)} ${message}`,
    ...(mend ? [`${' '.repeat(19)}-> ${mend}`] : []),
  ])
}

async function examine({ config, io }: Given): Promise<Finding[]> {
  const settings = readSettings(config)
  if (Array.isArray(settings)) return settings
  const findings = [
    ...examineSettings(settings, io.env),
    ...(await examineMail(settings)),
    ...examineFiles(settings),
    ...examineDisk(settings),
  ]
  try {
    return [...findings, ...(await examineData(settings))]
  } catch (error) {
    return [...findings, unreachable(settings, error as Error)]
  }
}

function readSettings(config: () => Config): Config | Finding[] {
  try {
    return config()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const mend = `For all settings and their meaning: ${command('config')}, without this one`
    return error.message.split('\n').map((problem) => fault('settings', problem, mend))
  }
}

async function examineData(settings: Config): Promise<Finding[]> {
  const none = ok('database', `There is no installation yet. The first start makes it: ${command('serve')}`)
  const sqlite = settings.database_url === null
  // Opening a SQLite database would create it.
  if (sqlite && !hasDatabase(settings.data_dir)) return [none]
  const database = await openToRead(settings)
  try {
    const file = sqlite ? await examineSqliteFile(database, settings.data_dir) : null
    if (file && !file.whole) return file.findings
    const found = file?.findings ?? (await examinePostgres(database))
    if (!(await isInstallation(database.db))) return [...found, none]
    const plan = await planMigrations(database.db)
    found.push(examineMigrations(plan), ...(await examineDatabase(database, settings)))
    // Tables and columns may be missing.
    if (plan.pending.length) return found
    const { resources } = await import('../../resources/index.ts')
    const tables = resources.map(({ table }) => table)
    const life = await readLife(database)
    setZoneFolder(settings.tzdir)
    return [
      ...found,
      ...examineClock(database, life),
      ...(await examineWebhooks(database)),
      ...(await examineQueue(database, life)),
      ...(await examineTrash(database, tables, settings.trash_days, life)),
      ...(await examineZones(database, life)),
    ]
  } finally {
    await database.close()
  }
}

/** Opens the database. A SQLite file stays as it is: a backup without a write-ahead log gets none. */
async function openToRead(settings: Config): Promise<Examined> {
  if (settings.database_url === null)
    return { ...openUnchanged(databaseFile(settings.data_dir)), engine: 'sqlite', clock: systemClock }
  return openDatabase({ ...settings, database_replica_url: null, database_pool_size: 2 })
}

function unreachable({ database_url, data_dir }: Config, error: Error & { code?: string }): Finding {
  if (database_url === null)
    return fault(
      'database',
      `The database in ${data_dir} cannot be read: ${error.message}`,
      `Run this as the user of the service. If the file is damaged: ${command('restore FILE')}`,
    )
  return fault(
    'database',
    `The database of DATABASE_URL cannot be used: ${error.message || error.code}`,
    'Check DATABASE_URL, the server, and that this machine may connect to it.',
  )
}
