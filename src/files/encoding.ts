import { isUtf8 } from 'node:buffer'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Finds the encoding of a file from all of its bytes, which arrive in parts. */
export function createEncodingDetector() {
  let start = Buffer.alloc(0)
  let rest = Buffer.alloc(0)
  let is_utf8 = true

  return {
    add(bytes: Buffer): void {
      if (start.length < sample_bytes) start = Buffer.concat([start, bytes.subarray(0, sample_bytes)])
      if (!is_utf8) return
      const all = rest.length ? Buffer.concat([rest, bytes]) : bytes
      const whole = endOfCharacters(all)
      is_utf8 = isUtf8(all.subarray(0, whole))
      rest = Buffer.from(all.subarray(whole))
    },
    /** The encoding; UTF-8 for a file without bytes. */
    result: (): Encoding => utf16Of(start) ?? (is_utf8 && isUtf8(rest) ? 'utf-8' : 'windows-1252'),
  }
}

const sample_bytes = 4096

/** The end of the last complete character of UTF-8. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return bytes.length
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

// Without a byte order mark: most characters of a header are ASCII, which has a zero byte in UTF-16.
function utf16Of(start: Buffer): Encoding | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  let even = 0
  let odd = 0
  for (let n = 0; n < start.length; n++) if (start[n] === 0) n % 2 ? odd++ : even++
  if (even + odd < start.length / 8) return null
  return odd > even ? 'utf-16le' : 'utf-16be'
}

/** The texts of a file's bytes, without the byte order mark. Bytes that are not valid become U+FFFD. */
export async function* decode(bytes: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const part of bytes) yield decoder.decode(part, { stream: true })
  yield decoder.decode()
}
