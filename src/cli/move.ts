import { sql } from 'kysely'
import type { Database } from '../db/db.ts'
import { command } from '../installed.ts'
import { type Copied, copyInstallation, Different } from '../move/copy.ts'
import { tablesOf } from '../move/tables.ts'
import { resources } from '../resources/index.ts'
import { type Command, type Io, UsageError } from './command.ts'
import { findKey, giveKey, type KeyLocation } from './move-key.ts'
import { type Location, parseLocation, showLocation, withLocations } from './move-locations.ts'
import { createProgress } from './move-progress.ts'
import { columns, rowsOf } from './text.ts'

export const move: Command = {
  options: {
    from: { value: 'PLACE', about: 'The source, which does not change', required: true },
    to: { value: 'PLACE', about: 'An empty database, or a folder without a database', required: true },
  },
  notes: [
    'A PLACE is sqlite:FOLDER (a DATA_DIR) or postgres://user:password@host:5432/database.',
    '',
    'Stop every server first. One transaction copies everything, also ids and API keys, reads it back and compares it.',
    'A copy that fails or is killed leaves the target empty. Run it again.',
    'Webhook secrets stay encrypted, so the new place needs the key, too. The last lines say where the key is.',
  ],
  async run({ options, config, io }) {
    const settings = config()
    const [from, to] = [parseLocation('from', options.from ?? ''), parseLocation('to', options.to ?? '')]
    if (showLocation(from) === showLocation(to)) throw new UsageError('--from and --to are the same.')
    const key = await withLocations(from, to, async (source, target) => {
      const folders = [from.folder, to.folder, settings.data_dir].filter((folder) => folder !== null)
      const key = await findKey(source.db, settings, folders)
      const takeBack =
        to.folder !== null && key && typeof key === 'object' && 'file' in key
          ? giveKey(key.file, to.folder)
          : null
      try {
        await copy(source, target, io)
      } catch (error) {
        takeBack?.()
        throw error
      }
      return key
    })
    for (const line of nextSteps(from, to, key)) io.out(line)
    return 0
  },
}

async function copy(source: Database, target: Database, io: Io) {
  const progress = createProgress(io)
  try {
    const { start: onStart, report: onProgress } = progress
    const copied = await copyInstallation(source.db, target.db, { resources, onStart, onProgress })
    if (target.engine === 'postgres') await analyze(target)
    progress.end()
    for (const line of reportOf(copied)) io.out(line)
  } catch (error) {
    progress.end()
    if (error instanceof Different) for (const line of reportOf(error.tables)) io.out(line)
    throw error
  }
}

function reportOf(copied: Copied[]): string[] {
  const rows = copied.map(({ table, counted, read, written, same }) => [
    table,
    String(counted),
    read.checksum,
    same ? 'ok' : `DIFFERENT: ${rowsOf(written.rows)}, ${written.checksum}`,
  ])
  return columns(['TABLE', 'ROWS', 'CHECKSUM', 'COPY'], rows)
}

// Collect statistics, so that the first requests have good plans. If this fails, autovacuum does it within minutes.
async function analyze({ db }: Database) {
  for (const { name } of tablesOf(resources))
    await sql`ANALYZE ${sql.table(name)}`.execute(db).catch(() => {})
}

function nextSteps(from: Location, to: Location, key: KeyLocation): string[] {
  const place =
    to.url === null
      ? [`  DATA_DIR=${to.folder}`, '  DATABASE_URL unset']
      : [`  DATABASE_URL=${showLocation(to)}${showLocation(to) === to.url ? '' : ' (with its password)'}`]
  return [
    '',
    'Everything was copied and compared. Start the service with its old settings, except:',
    ...place,
    ...keySteps(to, key).map((line) => `  ${line}`),
    `${showLocation(from)} is unchanged. Do not serve it again: later changes are only in the copy.`,
  ]
}

function keySteps(to: Location, key: KeyLocation): string[] {
  if (key === null) return []
  if (key === 'unknown')
    return [
      'the old SECRET_KEY, or a DATA_DIR with the old secret.key: neither is here, and the service needs one to start',
    ]
  if ('setting' in key && key.old)
    return [
      'the SECRET_KEY and SECRET_KEY_OLD that are set here: both open the secrets of webhooks',
      `(then seal them with SECRET_KEY alone: ${command('rekey')})`,
    ]
  if ('setting' in key) return ['the SECRET_KEY that is set here, which opens the secrets of webhooks']
  if (to.folder !== null) return []
  return [
    `DATA_DIR=${key.file.slice(0, -'/secret.key'.length)}, whose secret.key opens the secrets of webhooks`,
    '(on other machines: a DATA_DIR with a copy of that file, or its text as SECRET_KEY)',
  ]
}
