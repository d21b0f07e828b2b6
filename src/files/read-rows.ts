import { readCards } from './cards.ts'
import { readCsv } from './csv-rows.ts'
import { readLines } from './json-lines.ts'
import type { FileRow, TextForm } from './rows.ts'

/**
 * The rows of a text file whose bytes arrive in parts, without its header: those with a number above `after`, some at once. It
 * reads a few milliseconds between two of its results, which may be empty. Throws FileError.
 */
export function readRows(bytes: AsyncIterable<Buffer>, form: TextForm, after = 0): AsyncGenerator<FileRow[]> {
  if (form.format === 'csv') return readCsv(bytes, form, after)
  return form.format === 'vcf' ? readCards(bytes, form.encoding, after) : readLines(bytes, form, after)
}
