import { SaxesParser } from 'saxes'
import { FileError, max_row_characters } from './rows.ts'

export type XmlHandlers = {
  /** The begin of an element, by its name without a prefix. */
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text(text: string): void
  close(name: string): void
}

const max_depth = 64
// Bytes that are parsed at once, in a few milliseconds.
const piece_bytes = 16 * 1024
// The parser keeps a text or a tag until it ends.
const max_part_bytes = 4 * max_row_characters

const turn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Reads an XML file whose bytes arrive in parts. It yields after each piece, with the bytes so far. Between two pieces, the
 * event loop has a turn: the bytes may be there already. Throws FileError.
 */
export async function* readXml(
  bytes: AsyncIterable<Buffer>,
  { open, text, close }: XmlHandlers,
  max_bytes: number,
): AsyncGenerator<number> {
  const parser = new SaxesParser({ position: false })
  let depth = 0
  let open_bytes = 0
  const withoutPrefix = (name: string) => name.slice(name.indexOf(':') + 1)
  parser.on('opentag', ({ name, attributes }) => {
    open_bytes = 0
    if (++depth > max_depth) throw new FileError('The file is damaged: its XML is nested too deep.')
    open(withoutPrefix(name), attributes as Record<string, string>)
  })
  parser.on('closetag', ({ name }) => {
    open_bytes = 0
    depth--
    close(withoutPrefix(name))
  })
  parser.on('text', text)
  parser.on('cdata', text)
  // A definition of entities can make a small file very large.
  parser.on('doctype', () => {
    throw new FileError('The file is damaged: its XML has a document type.')
  })
  const decoder = new TextDecoder()
  const write = (part?: Buffer): FileError | null => {
    try {
      if (part) parser.write(decoder.decode(part, { stream: true }))
      else parser.close()
      return null
    } catch (error) {
      if (error instanceof FileError) return error
      return new FileError('The file is damaged: its XML is not valid. Open it, and save it again.')
    }
  }
  let read = 0
  for await (const part of bytes)
    for (let from = 0; from < part.length; from += piece_bytes) {
      const piece = part.subarray(from, from + piece_bytes)
      read += piece.length
      open_bytes += piece.length
      if (read > max_bytes)
        throw new FileError(`A part of the file has more than ${max_bytes / 1024 ** 2} MiB. Split the file.`)
      const error = write(piece)
      // The elements before the error are read.
      yield read
      if (error) throw error
      if (open_bytes > max_part_bytes)
        throw new FileError('The file is damaged: its XML has a part without an end.')
      await turn()
    }
  const error = write()
  if (error) throw error
}
