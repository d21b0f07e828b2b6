import { FileError } from './rows.ts'

/** A file of an archive. */
export type ArchivedFile = { name: string; content: Buffer }

const block = 512
/** An export writes files of about 4 MiB. */
export const max_file_bytes = 16 * 1024 * 1024
/** A small archive can have very much content. */
const max_content_bytes = 64 * 1024 ** 3

/**
 * The files of a tar archive whose bytes arrive in parts. Only one file is in memory. `expects` decides by its name
 * whether a file belongs into the archive. Throws FileError.
 */
export async function* readArchive(
  bytes: AsyncIterable<Buffer>,
  expects: (name: string) => boolean,
): AsyncGenerator<ArchivedFile> {
  const parts = bytes[Symbol.asyncIterator]()
  const take = takeFrom(parts)
  try {
    for (;;) {
      const header = await take(block)
      if (header.every((byte) => byte === 0)) return
      const { name, size } = readHeader(header)
      if (!expects(name)) throw new FileError(`The archive has the file ${shown(name)}, which is unknown.`)
      if (size > max_file_bytes)
        throw new FileError(`${shown(name)} is larger than ${max_file_bytes / 1024 / 1024} MiB.`)
      const padded = await take(Math.ceil(size / block) * block)
      yield { name, content: padded.subarray(0, size) }
    }
  } finally {
    await parts.return?.()
  }
}

const shown = (name: string) => JSON.stringify(name.slice(0, 100))

/** Takes a number of bytes from the start of what is left. */
function takeFrom(parts: AsyncIterator<Buffer>): (wanted: number) => Promise<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  let total = 0
  return async (wanted) => {
    const taken = [rest]
    let length = rest.length
    while (length < wanted) {
      const { done, value: part } = await parts.next()
      if (done) throw cutOff()
      taken.push(part)
      length += part.length
      total += part.length
      if (total > max_content_bytes)
        throw new FileError(`The archive has more than ${max_content_bytes / 1024 ** 3} GiB of content.`)
    }
    const all = taken.length === 1 ? rest : Buffer.concat(taken)
    rest = all.subarray(wanted)
    return all.subarray(0, wanted)
  }
}

/** The archive ends too early. */
export const cutOff = () => new FileError('The archive is cut off. Export the workspace again.')
/** The bytes are those of something else. */
export const noArchive = () => new FileError('The file is not a .tar.gz archive, or it is damaged.')

function readHeader(header: Buffer): { name: string; size: number } {
  const field = (from: number, length: number) =>
    header.toString('utf8', from, from + length).replace(/[\0 ].*$/s, '')
  const checked = Buffer.from(header).fill(' ', 148, 156)
  const sum = checked.reduce((all, byte) => all + byte, 0)
  const size = /^[0-7]+$/.test(field(124, 12)) ? Number.parseInt(field(124, 12), 8) : Number.NaN
  if (Number.parseInt(field(148, 8), 8) !== sum || Number.isNaN(size)) throw noArchive()
  return { name: header.toString('utf8', 0, 100).replace(/\0.*$/s, ''), size }
}
