import { isAscii, isUtf8 } from 'node:buffer'

/** A name of an encoding, as TextDecoder gives it: `utf-8`, `windows-1252`, `shift_jis`. */
export type Encoding = string

/** The name that TextDecoder has for a label such as `latin1`. Null if it does not know the label. */
export function encodingOf(label: string): Encoding | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/**
 * The encoding of a file. `is_guess`: no mark, no name and no valid text of UTF-8 decides it. `sample` is a text of the
 * file with characters that other encodings read differently; null if the file has none.
 */
export type Detected = { encoding: Encoding; is_guess: boolean; sample: string | null }

/** Finds the encoding of a file from all of its bytes, which arrive in parts. `named` is the one that the request names. */
export function createEncodingDetector(named: Encoding | null = null) {
  let start = Buffer.alloc(0)
  let rest = Buffer.alloc(0)
  let sample: Buffer | null = null
  const seen = { longer: 0, broken: 0 }
  const count = (bytes: Buffer) => {
    if (!isAscii(bytes)) countUtf8(bytes, seen)
  }

  return {
    add(bytes: Buffer): void {
      if (start.length < sample_bytes) start = Buffer.concat([start, bytes.subarray(0, sample_bytes)])
      if (!sample && !isAscii(bytes)) sample = sampleOf(bytes)
      if (named) return
      const all = rest.length ? Buffer.concat([rest, bytes]) : bytes
      const whole = endOfCharacters(all)
      count(all.subarray(0, whole))
      rest = Buffer.from(all.subarray(whole))
    },
    /** The encoding; UTF-8 for a file without bytes. */
    result(): Detected {
      const marked = markOf(start)
      const known = marked ?? named
      if (!known) {
        count(rest)
        rest = Buffer.alloc(0)
      }
      const utf16 = known ? null : utf16Of(start)
      const has_utf8 = !seen.broken || seen.longer * max_broken >= seen.broken
      const encoding = known ?? utf16 ?? (has_utf8 ? 'utf-8' : 'windows-1252')
      const text = sample && new TextDecoder(encoding).decode(encoding.startsWith('utf-16') ? start : sample)
      return {
        encoding,
        is_guess: !known && (utf16 !== null || seen.broken > 0),
        sample: text && linesWith(text),
      }
    },
  }
}

const sample_bytes = 4096
const shown_characters = 100
const max_counted = 10_000
// A text in another encoding is rarely valid UTF-8. So a file with this many broken characters for a valid one is UTF-8.
const max_broken = 4

/** The bytes around the first ones that are not ASCII. */
function sampleOf(bytes: Buffer): Buffer {
  const at = bytes.findIndex((byte) => byte >= 0x80)
  const line = bytes.lastIndexOf('\n', at) + 1
  return Buffer.from(bytes.subarray(Math.max(line, at - shown_characters), at + 2 * shown_characters))
}

/** The first line of a text with a character that is not ASCII. */
const linesWith = (text: string): string | null => {
  const [line] = /[^\r\n]*[^\x00-\x7f\ufeff][^\r\n]*/.exec(text) ?? []
  // Without a character that the sample cuts.
  return line
    ? line
        .slice(0, shown_characters)
        .toWellFormed()
        .replace(/\ufffd$/, '')
    : null
}

/** Adds the bytes by which the characters beyond ASCII are longer, and the bytes that belong to none. */
function countUtf8(bytes: Buffer, seen: { longer: number; broken: number }): void {
  // Of a file with many such bytes, samples are enough.
  const sample =
    seen.broken > max_counted ? bytes.subarray(0, endOfCharacters(bytes.subarray(0, sample_bytes))) : bytes
  const text = sample.toString('utf8')
  seen.longer += sample.length - text.length
  if (isUtf8(sample)) return
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) seen.broken++
}

/** The bytes of the character at an index; 0 if there is none. */
function lengthAt(bytes: Buffer, at: number): number {
  const [byte = 0, next = 0] = [bytes[at], bytes[at + 1]]
  const length = byte >= 0xf5 ? 0 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0
  // Longer forms than needed, surrogates, and what is beyond Unicode.
  const is_refused =
    (byte === 0xe0 && next < 0xa0) ||
    (byte === 0xed && next > 0x9f) ||
    (byte === 0xf0 && next < 0x90) ||
    (byte === 0xf4 && next > 0x8f)
  for (let n = 1; n < length; n++) if (((bytes[at + n] ?? 0) & 0xc0) !== 0x80) return 0
  return is_refused ? 0 : length
}

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

/** The encoding that a byte order mark names. */
function markOf(start: Buffer): Encoding | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  return start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf ? 'utf-8' : null
}

// Without a byte order mark: most characters of a header are ASCII, which has a zero byte in UTF-16.
function utf16Of(start: Buffer): Encoding | null {
  let even = 0
  let odd = 0
  for (let n = 0; n < start.length; n++) if (start[n] === 0) n % 2 ? odd++ : even++
  if (even + odd < start.length / 8) return null
  return odd > even ? 'utf-16le' : 'utf-16be'
}

/** Half of a surrogate pair, which no valid bytes decode to. */
const broken_sign = '\udc80'
/** Whether a text has bytes that are not valid in the encoding of its file. */
export const hasBroken = (text: string): boolean => !text.isWellFormed()

/** The texts of a file's bytes, without the byte order mark. Bytes that are not valid become half of a surrogate pair. */
export async function* decode(bytes: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  const next = (part?: Buffer) => (part ? decoder.decode(part, { stream: true }) : decoder.decode())
  // UTF-8 and UTF-16 can have U+FFFD as a character of the file.
  const read =
    encoding === 'utf-8'
      ? createUtf8(next)
      : encoding.startsWith('utf-16')
        ? next
        : (part?: Buffer) => next(part).replaceAll('\ufffd', broken_sign)
  for await (const part of bytes) yield read(part)
  yield read()
}

/** Decodes UTF-8. A character U+FFFD of the file stays; broken bytes get the other sign. */
function createUtf8(next: (part?: Buffer) => string) {
  let rest = Buffer.alloc(0)
  return (part?: Buffer): string => {
    const all = part && rest.length ? Buffer.concat([rest, part]) : (part ?? rest)
    const whole = part ? endOfCharacters(all) : all.length
    rest = Buffer.from(all.subarray(whole))
    const bytes = all.subarray(0, whole)
    return isUtf8(bytes) ? next(bytes) : decodeBroken(next, bytes)
  }
}

function decodeBroken(next: (part: Buffer) => string, bytes: Buffer): string {
  let text = ''
  let from = 0
  for (let at = 0; at < bytes.length; ) {
    const length = (bytes[at] as number) < 0x80 ? 1 : lengthAt(bytes, at)
    if (!length) {
      text += next(bytes.subarray(from, at)) + broken_sign
      from = at + 1
    }
    at += length || 1
  }
  return text + next(bytes.subarray(from))
}
