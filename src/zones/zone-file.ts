import type { ZoneTable } from './zone.ts'

const header_bytes = 44
const second = 1000

/** Reads a compiled zone file (TZif, RFC 9636, version 2 and later). Null for other bytes. */
export function parseZoneFile(bytes: Buffer): ZoneTable | null {
  try {
    return parse(bytes)
  } catch (error) {
    // A file that is cut off.
    if (error instanceof RangeError) return null
    throw error
  }
}

function parse(bytes: Buffer): ZoneTable | null {
  const is_zone = bytes.toString('latin1', 0, 4) === 'TZif' && bytes.readUInt8(4) >= 0x32
  if (!is_zone) return null
  // The first block has the same in 32 bits.
  const start = endOfBlock(bytes, 0, 4)
  const { times, types } = countsOf(bytes, start)
  const at = start + header_bytes
  const type_of = at + times * 8
  const offset_of = type_of + times
  const offsetOf = (type: number) => {
    if (type >= types) throw new RangeError()
    return bytes.readInt32BE(offset_of + type * 6) * second
  }
  const listed = Array.from({ length: times }, (_, n) => ({
    at_ms: Number(bytes.readBigInt64BE(at + n * 8)) * second,
    offset_ms: offsetOf(bytes.readUInt8(type_of + n)),
  }))
  const first_ms = offsetOf(0)
  // Some entries change only the name of the time.
  const changes = listed.filter(({ offset_ms }, n) => offset_ms !== (listed[n - 1]?.offset_ms ?? first_ms))
  const [, rule = ''] = bytes.toString('latin1', endOfBlock(bytes, start, 8)).split('\n')
  return { first_ms, changes, rule }
}

// The order of RFC 9636, section 3.1.
function countsOf(bytes: Buffer, start: number) {
  const [isut = 0, isstd = 0, leaps = 0, times = 0, types = 0, letters = 0] = [20, 24, 28, 32, 36, 40].map(
    (at) => bytes.readUInt32BE(start + at),
  )
  return { isut, isstd, leaps, times, types, letters }
}

function endOfBlock(bytes: Buffer, start: number, time_bytes: number): number {
  const { isut, isstd, leaps, times, types, letters } = countsOf(bytes, start)
  const size = times * (time_bytes + 1) + types * 6 + letters + leaps * (time_bytes + 4) + isstd + isut
  return start + header_bytes + size
}
