import type { CsvForm } from './delimiter.ts'

const [quote, cr, lf] = [...'"\r\n'].map((sign) => sign.charCodeAt(0))

export type RowEnd = ReturnType<typeof createRowEnd>

/** Finds the end of a CSV row whose bytes arrive in parts, without its cells. It reads quotes as the parser of rows.ts does. */
export function createRowEnd({ delimiter, ends_at_cr }: Pick<CsvForm, 'delimiter' | 'ends_at_cr'>) {
  const between = delimiter.charCodeAt(0)
  // `quote`: after a quote inside a quoted cell, which closes the cell or escapes the next quote. `cr`: after a row end.
  let state: 'start' | 'plain' | 'quoted' | 'quote' | 'cr' = 'start'
  return {
    /** The index after the row, or null if the row continues in the next part. */
    find(bytes: Buffer): number | null {
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at]
        if (state === 'cr') return byte === lf ? at + 1 : at
        if (state === 'quoted') {
          if (byte === quote) state = 'quote'
        } else if (byte === lf) return at + 1
        else if (byte === cr && ends_at_cr) state = 'cr'
        else if (byte === quote && state !== 'plain') state = 'quoted'
        else state = byte === between ? 'start' : 'plain'
      }
      return null
    },
    /** Whether a quote is open after the last part. */
    isQuoted: () => state === 'quoted',
  }
}
