import { randomBytes } from 'node:crypto'
import { createWriteStream, openSync, renameSync, rmSync } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isatty } from 'node:tty'
import { findGivenFile } from '../db/given-file.ts'
import { visible } from '../visible.ts'
import { apiOf } from './api.ts'
import { type Command, type Io, UsageError } from './command.ts'
import { wholeArchive, wholeRows } from './export-end.ts'
import { onStopSignal } from './signals.ts'
import { rowsOf } from './text.ts'

export const exportCommand: Command = {
  operands: ['RESOURCE', '[FILE]'],
  options: {
    filters: { value: 'QUERY', about: 'Filters and order of the list, such as stage=lead&sort=last_name' },
  },
  notes: [
    'RESOURCE is contacts, companies, deals, activities or appointments: CSV, or JSON lines for a FILE.ndjson.',
    'RESOURCE workspace writes everything as one .tar.gz.',
    'Without FILE: to standard output.',
  ],
  async run({ operands, options, io }) {
    const [resource = '', file = ''] = operands
    if (resource === 'workspace' && /\.zip$/i.test(file))
      throw new UsageError(`${file} must end in .tar.gz: the export is a gzip archive.`)
    const output = openOutput(file)
    if (resource === 'workspace' && output.is_terminal)
      throw new UsageError(
        `${output.name} is a terminal. Give the path of a file: the export is a gzip archive.`,
      )
    const query = new URLSearchParams(options.filters)
    const format = /\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv'
    if (resource !== 'workspace') query.set('format', format)
    const response = await apiOf(io)(`/${encodeURIComponent(resource)}/export?${query}`)
    const rows = resource === 'workspace' ? null : totalOf(response)
    const whole = rows === null ? wholeArchive() : wholeRows(format, rows)
    const bytes = await save(response, whole, output, io)
    io.status?.('')
    const tell = file ? io.out : io.err
    tell(`Wrote ${rows === null ? `${bytes} bytes` : rowsOf(rows)} to ${output.name}.`)
    return 0
  },
}

function totalOf({ headers, url }: Response): number {
  const total = headers.get('x-total-count')
  if (total && /^\d+$/.test(total)) return Number(total)
  throw new Error(`${url} answered without X-Total-Count, so this is not an export. Check RAPPORT_URL.`)
}

type Output = {
  name: string
  file: string
  part: string | null
  fd?: number | undefined
  is_terminal: boolean
}

/** `part` is a new file that takes the bytes until the export is complete. Null for a device or a pipe, which take them as they come. */
function openOutput(file: string): Output {
  if (!file) return { name: 'standard output', file, part: null, is_terminal: process.stdout.isTTY === true }
  const found = findGivenFile(file)
  const part = found?.isFile() === false ? null : `${file}.part-${randomBytes(4).toString('hex')}`
  // Opening a pipe would wait for its reader.
  const fd = found?.isCharacterDevice() ? openSync(file, 'w') : undefined
  return { name: file, file, part, fd, is_terminal: fd !== undefined && isatty(fd) }
}

/** Writes an answer through `whole`, which ends with an error if it is not complete. Resolves with the number of its bytes. */
async function save(response: Response, whole: Transform, output: Output, io: Io): Promise<number> {
  const { file, part, fd, is_terminal } = output
  let bytes = 0
  const count = new Transform({
    transform(part, _encoding, done) {
      bytes += part.length
      if (!is_terminal) io.status?.(`Received ${(bytes / 1e6).toFixed(1)} MB`)
      done(null, part)
    },
  })
  const stopped = new AbortController()
  const end = onStopSignal(() => stopped.abort())
  const written = file ? createWriteStream(part ?? file, { flush: part !== null, fd }) : process.stdout
  const content = Readable.fromWeb(response.body as never)
  const shown = is_terminal ? linesAsText : (parts: AsyncIterable<Buffer>) => parts
  try {
    await pipeline(content, whole, count, shown, written, { signal: stopped.signal, end: file !== '' })
    if (part) renameSync(part, file)
  } catch (error) {
    if (part) rmSync(part, { force: true })
    // A reader of standard output that has ended, such as head, wants no more.
    if (!file && (error as { code?: string }).code === 'EPIPE') return bytes
    throw new Error(`The export broke off (${(error as Error).message}). Run the command again.`)
  } finally {
    end()
  }
  return bytes
}

async function* linesAsText(parts: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split(/\r?\n/)
    rest = lines.pop() as string
    for (const line of lines) yield `${visible(line)}\n`
  }
  yield visible(rest)
}
