import { createReadStream } from 'node:fs'
import { basename, extname } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { requireGivenFile } from '../db/given-file.ts'
import { type Api, ApiFailure, apiOf } from './api.ts'
import type { Command, Io } from './command.ts'
import { counted, rowsOf } from './text.ts'

const poll_ms = 500
// A server that restarts goes on with the import.
const max_silence_ms = 60_000
const bar_width = 24

type Counts = Record<'rows_read' | 'created' | 'updated' | 'skipped' | 'failed', number>
type Import = {
  id: string
  status: string
  message: string | null
  progress: number
  errors: number
  kinds: ({ kind: string } & Counts)[]
  /** Absent in answers of earlier versions. */
  columns?: Column[]
} & Counts
type Column = {
  header: string
  field: string | null
  stored: number
  changed: number
  left_out: number
  reasons: Record<string, number>
}

const types: Record<string, string> = {
  '.gz': 'application/gzip',
  '.tgz': 'application/gzip',
  '.ndjson': 'application/x-ndjson',
  '.jsonl': 'application/x-ndjson',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xlsm': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.vcf': 'text/vcard',
}

export const importCommand: Command = {
  operands: ['RESOURCE', 'FILE'],
  options: {
    'on-match': {
      value: 'M',
      about: 'create, update or skip, for rows that match a record; default: create',
    },
    match: {
      value: 'FIELD',
      about: 'The field by which a row finds its record; default: email, or the name',
    },
    tags: {
      value: 'T',
      about: 'add or replace, for the tags of a record that a row matches; default: add',
    },
    'bad-cells': {
      value: 'B',
      about: 'fail or leave_out, for a row with a cell that its field does not take; default: fail',
    },
    columns: { value: 'JSON', about: 'The fields of columns, such as {"Firm":"company"}' },
    rest: { value: 'R', about: 'ignore or custom_fields, for other columns; default: ignore' },
    program: {
      value: 'P',
      about: 'The program that wrote the file, such as hubspot; default: found by the headers',
    },
    encoding: { value: 'E', about: 'The encoding of the file, such as windows-1252; default: found' },
    'header-row': { value: 'N', about: 'The row of the header; default: found' },
    sheet: { value: 'S', about: 'The sheet of a workbook, by its name or number; default: the first one' },
    'time-zone': { value: 'ZONE', about: 'The zone of times without an offset, such as Europe/Berlin' },
  },
  flags: { 'dry-run': 'Count and check, but write nothing' },
  notes: [
    'RESOURCE is contacts, companies, deals or activities. FILE is CSV, .xlsx, vCards (.vcf) or JSON lines (.ndjson).',
    'RESOURCE workspace reads the .tar.gz of an export of a workspace.',
  ],
  async run({ operands, options, flags, io }) {
    const [resource = '', file = ''] = operands
    const query = new URLSearchParams({ resource, file_name: basename(file) })
    const is_dry_run = flags.has('dry-run')
    if (is_dry_run) query.set('dry_run', 'true')
    for (const [name, value] of Object.entries(options))
      if (value !== undefined && name !== 'help') query.set(name.replaceAll('-', '_'), value)
    const api = apiOf(io)
    const done = await follow(api, io, await upload(api, io, file, query))
    io.out(is_dry_run ? `Checked ${shown(done)}. Nothing was written.` : `Imported ${shown(done)}.`)
    if (resource === 'workspace') {
      for (const one of done.kinds) io.out(`  ${one.kind}: ${shown(one)}`)
      io.out('Members are not imported. Records whose owner is not a member here have no owner.')
    }
    for (const line of accountOf(done.columns ?? [])) io.out(line)
    if (done.status !== 'succeeded') throw new Error(done.message ?? `The import is ${done.status}.`)
    if (!done.failed && !done.errors) return 0
    for (const line of (await (await api(`/imports/${done.id}/errors`)).text())
      .trimEnd()
      .split('\r\n')
      .slice(0, 11))
      io.err(line)
    return done.failed ? 1 : 0
  },
}

const shown = ({ rows_read, created, updated, skipped, failed }: Counts) =>
  `${rowsOf(rows_read)}: ${created} created, ${updated} updated, ${skipped} skipped, ${failed} failed`

/**
 * The account of the cells: a sentence, and a line for each column with cells in another form or left out. The errors tell
 * the cells of rows that failed.
 */
function accountOf(columns: readonly Column[]): string[] {
  const sum = (name: 'stored' | 'changed' | 'left_out') => columns.reduce((all, one) => all + one[name], 0)
  const told = columns
    .map(({ reasons: { row_failed = 0, ...reasons }, ...one }) => ({
      ...one,
      reasons,
      left_out: one.left_out - row_failed,
    }))
    .filter(({ changed, left_out }) => changed + left_out > 0)
  const [stored, changed, left_out] = [sum('stored'), sum('changed'), sum('left_out')]
  if (stored + changed + left_out === 0) return []
  return [
    `${counted(stored + changed + left_out, 'value')}: ${stored} as they are, ${changed} in another form, ${left_out} left out.`,
    ...told.map(({ header, field, changed, left_out, reasons }) => {
      const parts = [
        ...(changed ? [`${changed} in another form`] : []),
        ...(left_out ? [`${left_out} left out (${Object.keys(reasons).join(', ')})`] : []),
      ]
      return `  ${header} -> ${field ?? 'nothing'}: ${parts.join(', ')}`
    }),
  ]
}

async function upload(api: Api, io: Io, file: string, query: URLSearchParams): Promise<Import> {
  const { size } = requireGivenFile(file)
  let sent = 0
  const content = createReadStream(file).on('data', (part) => {
    sent += part.length
    const share = size ? sent / size : 1
    io.status?.(`${bar(share)} Sending ${basename(file)}`)
  })
  const response = await api(`/imports?${query}`, {
    method: 'POST',
    headers: { 'content-type': types[extname(file).toLowerCase()] ?? 'text/csv' },
    body: Readable.toWeb(content) as never,
    duplex: 'half',
  }).catch((error) => {
    const { errored } = content
    throw errored ? new Error(`${file} cannot be read (${errored.message}).`) : error
  })
  return importOf(response)
}

const importOf = async (response: Response): Promise<Import> =>
  ((await response.json()) as { data: Import }).data

const bar = (share: number) =>
  `[${'#'.repeat(Math.round(share * bar_width)).padEnd(bar_width, '-')}] ${Math.floor(share * 100)}% `

/** Whether the same request may succeed later: no answer, too many requests, or a server that is busy or restarts. */
const mayPass = (error: unknown): boolean =>
  error instanceof ApiFailure &&
  (error.status === null || error.status === 429 || error.status === 502 || error.status === 503)

async function follow(api: Api, io: Io, begun: Import): Promise<Import> {
  let shown = begun
  let heard_ms = performance.now()
  while (shown.status === 'queued' || shown.status === 'running') {
    io.status?.(`${bar(shown.progress)} Importing: ${rowsOf(shown.rows_read)}, ${shown.failed} failed`)
    await pause(poll_ms)
    try {
      shown = await importOf(await api(`/imports/${begun.id}`))
      heard_ms = performance.now()
    } catch (error) {
      if (!mayPass(error) || performance.now() - heard_ms > max_silence_ms) throw error
    }
  }
  io.status?.('')
  return shown
}
