import { Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { tar_end } from '../files/tar.ts'
import { rowsOf } from './text.ts'

// A connection may end cleanly before the export does: a proxy that is cut passes on what it has. So the content says it.

const line_feed = 10
const quote = 34

/** Passes a list of `total` records on. Ends with an error if it has other rows, or no end of its last row. */
export function wholeRows(format: 'csv' | 'ndjson', total: number): Transform {
  const is_csv = format === 'csv'
  let ends = 0
  let is_quoted = false
  let last: number | undefined
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      for (const byte of part)
        if (is_csv && byte === quote) is_quoted = !is_quoted
        else if (byte === line_feed && !is_quoted) ends++
      last = part.at(-1) ?? last
      done(null, part)
    },
    flush(done) {
      const rows = Math.max(0, is_csv ? ends - 1 : ends)
      const is_whole =
        rows === total && ends >= Number(is_csv) && !is_quoted && (last ?? line_feed) === line_feed
      done(is_whole ? null : new Error(`${rowsOf(rows)} of ${total} arrived`))
    },
  })
}

/** Passes a .tar.gz archive on. Ends with an error if it has no end, bytes after it, or other bytes than its checksum says. */
export function wholeArchive(): Transform {
  // Without this option, gunzip ends at bytes of zero, or waits for more of another archive.
  const content = createGunzip({ rejectGarbageAfterEnd: true })
  let tail: Buffer = Buffer.alloc(0)
  const archive = new Transform({
    transform: (part: Buffer, _encoding, done) => void content.write(part, () => done(null, part)),
    flush(done) {
      content.on('end', () => done(tail.equals(tar_end) ? null : new Error('the archive has no end'))).end()
    },
  })
  content.on('data', (part: Buffer) => {
    tail = (part.length < tar_end.length ? Buffer.concat([tail, part]) : part).subarray(-tar_end.length)
  })
  content.on('error', (error) => {
    const { code } = error as NodeJS.ErrnoException
    const is_longer = code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END'
    archive.destroy(is_longer ? new Error('it has bytes after its end') : error)
  })
  return archive
}
