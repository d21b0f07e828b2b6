import { randomBytes } from 'node:crypto'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { findGivenFile } from '../db/given-file.ts'
import { apiOf } from './api.ts'
import { type Command, UsageError } from './command.ts'
import { onStopSignal } from './signals.ts'
import { rowsOf } from './text.ts'

export const exportCommand: Command = {
  operands: ['RESOURCE', 'FILE'],
  options: {
    filters: { value: 'QUERY', about: 'Filters and order of the list, such as stage=lead&sort=last_name' },
  },
  notes: [
    'RESOURCE is contacts, companies, deals, activities or appointments: CSV, or JSON lines for a FILE.ndjson.',
    'RESOURCE workspace writes everything as one .tar.gz.',
  ],
  async run({ operands, options, io }) {
    const [resource = '', file = ''] = operands
    if (resource === 'workspace' && /\.zip$/i.test(file))
      throw new UsageError(`${file} must end in .tar.gz: the export is a gzip archive.`)
    const part = partOf(file)
    const query = new URLSearchParams(options.filters)
    if (resource !== 'workspace') query.set('format', /\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv')
    const response = await apiOf(io)(`/${encodeURIComponent(resource)}/export?${query}`)
    const rows = response.headers.get('x-total-count')
    let bytes = 0
    const count = new Transform({
      transform(part, _encoding, done) {
        bytes += part.length
        io.status?.(`Received ${(bytes / 1e6).toFixed(1)} MB`)
        done(null, part)
      },
    })
    const stopped = new AbortController()
    const end = onStopSignal(() => stopped.abort())
    const output = createWriteStream(part ?? file, { flush: part !== null })
    try {
      await pipeline(Readable.fromWeb(response.body as never), count, output, { signal: stopped.signal })
      if (part) renameSync(part, file)
    } catch (error) {
      if (part) rmSync(part, { force: true })
      throw new Error(`The export broke off (${(error as Error).message}). Run the command again.`)
    } finally {
      end()
    }
    io.status?.('')
    io.out(`Wrote ${rows === null ? `${bytes} bytes` : rowsOf(Number(rows))} to ${file}.`)
    return 0
  },
}

/** A new file that takes the bytes until the export is complete. Null for a device or a pipe, which take them as they come. */
function partOf(file: string): string | null {
  return findGivenFile(file)?.isFile() === false ? null : `${file}.part-${randomBytes(4).toString('hex')}`
}
