import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type Db, type Tx, transaction } from '../db/db.ts'
import { ApiError, badRequest } from '../errors.ts'
import { firstCells, readHeader } from '../files/csv-rows.ts'
import { type CsvForm, guessBehindNotes, guessDelimiter } from '../files/delimiter.ts'
import { createEncodingDetector, type Encoding } from '../files/encoding.ts'
import type { FileForm, TextForm } from '../files/rows.ts'
import { max_workbook_bytes, numbers_file, open_document, text_document } from '../files/workbook.ts'
import { type FindHeader, searched_rows } from './header-row.ts'
import { openSheet } from './sheets.ts'
import { chunk_bytes, type ImportRow, storedBytes } from './store.ts'

export type FileFormat = FileForm['format'] | 'archive'
/** The facts of a file that a request names. Null: it is found. */
export type FileFacts = {
  format: FileFormat
  encoding: Encoding | null
  header_row: number | null
  sheet: string | null
}

const sample_bytes = 64 * 1024
// How long an upload may send nothing.
const silence_ms = 30_000

/** A stored file. `names` are those of its columns; null if they are not known. */
type Received = { form: FileForm; names: string[] | null; chunks: number; hash: Buffer }

/** Stores a file of a request in chunks, as it arrives. Throws 413 above `max_bytes`. */
export async function storeFile(
  db: Db,
  body: Readable,
  file: {
    workspace_id: number
    import_id: string
    facts: FileFacts
    findHeader: FindHeader
    max_bytes: number
    elapsed: () => number
  },
): Promise<Received> {
  const { workspace_id, import_id, facts, findHeader, max_bytes, elapsed } = file
  const detector = createEncodingDetector(facts.encoding)
  const hash = createHash('sha256')
  // Parts are copied: a client may send many that are small.
  const chunk = Buffer.allocUnsafe(chunk_bytes)
  let filled = 0
  let chunks = 0
  let start = chunk.subarray(0, 0)
  let bytes = 0
  let held_ms = elapsed()
  const hold = async (tx: Tx) => {
    held_ms = elapsed()
    const lease_ends_ms = held_ms + upload_lease_ms
    await changeUpload(tx, { workspace_id, id: import_id }, held_ms, { lease_ends_ms, chunks })
  }
  const store = async () => {
    const content = chunk.subarray(0, filled)
    const number = chunks++
    if (number === 0) start = Buffer.from(content)
    filled = 0
    await transaction(db, async (tx) => {
      await hold(tx)
      await tx.insertInto('import_chunks').values({ workspace_id, import_id, number, content }).execute()
    })
  }
  for await (const part of bodyParts(body)) {
    bytes += part.length
    refuseLarger(bytes, facts, max_bytes)
    if (facts.format !== 'xlsx') detector.add(part)
    hash.update(part)
    for (let from = 0; from < part.length; ) {
      const copied = part.copy(chunk, filled, from)
      from += copied
      filled += copied
      if (filled === chunk.length) await store()
    }
    if (elapsed() - held_ms > upload_lease_ms / 4) await transaction(db, hold)
  }
  if (!bytes) throw badRequest('The body is empty. Send the file as the body.')
  if (filled) await store()
  if (facts.format === 'xlsx') {
    refuseOthers(facts.format, start)
    const stored = storedBytes(db, { workspace_id, id: import_id }, bytes)
    const { form, names } = await openSheet(stored, facts, findHeader)
    return { form, names, chunks, hash: hash.digest() }
  }
  const form = await textForm(facts, detector.result().encoding, start, findHeader)
  return { form, names: columnNames(form, start), chunks, hash: hash.digest() }
}

/** The names of a file's columns, from its start. Null for lines of JSON and cards, which may have different names. */
export const columnNames = (form: TextForm, start: Buffer): string[] | null =>
  form.format === 'csv' ? readHeader(start, form) : null

/** The lease of an upload, which its process renews. An upload without a lease is removed. */
export const upload_lease_ms = 4 * silence_ms

/** Changes an upload. Throws 400 if it may be removed already. */
export async function changeUpload(
  tx: Tx,
  { workspace_id, id }: { workspace_id: number; id: string },
  elapsed_ms: number,
  changes: Partial<Pick<ImportRow, 'status' | 'form' | 'chunks' | 'lease_ends_ms'>>,
): Promise<void> {
  const changed = await tx
    .updateTable('imports')
    .set(changes)
    .where((eb) => eb.and({ workspace_id, id, status: 'uploading' }))
    .where('lease_ends_ms', '>', elapsed_ms)
    .returning('id')
    .execute()
  if (!changed.length) throw badRequest('The upload stood still for too long. Send the file again.')
}

/** Throws 413 for a file that is larger than its kind may be. */
export function refuseLarger(bytes: number, { format }: FileFacts, max_bytes: number): void {
  if (format === 'xlsx' && bytes > max_workbook_bytes)
    throw new ApiError(
      'payload_too_large',
      `The .xlsx file is larger than ${max_workbook_bytes / 1024 / 1024} MiB. Save it as CSV, and send that file.`,
    )
  if (bytes > max_bytes) throw tooLarge(max_bytes)
}

export const tooLarge = (max_bytes: number) =>
  new ApiError(
    'payload_too_large',
    `The file is larger than ${Math.floor(max_bytes / 1024 / 1024)} MiB. Split it, or set MAX_IMPORT_MB.`,
  )

// The number of checks in the time of a silence.
const checks = 6

/**
 * The parts of a body. Reading ends with an error when the client sends nothing for 30 s while this process waits for it.
 * The time in which the caller works on a part does not count.
 */
export async function* bodyParts(body: Readable, max_silence_ms = silence_ms): AsyncGenerator<Buffer> {
  // Count checks instead of time: a pause of this process is not silence of its client.
  let silent_checks = 0
  let is_waiting = true
  const timer = setInterval(() => {
    silent_checks = is_waiting ? silent_checks + 1 : 0
    if (silent_checks >= checks) body.destroy(badRequest('The body stopped arriving. Send it again.'))
  }, max_silence_ms / checks).unref()
  try {
    // A destroyed body would close the connection before the answer.
    for await (const part of body.iterator({ destroyOnReturn: false })) {
      is_waiting = false
      yield part as Buffer
      silent_checks = 0
      is_waiting = true
    }
  } catch (error) {
    // The client has gone, or this process stops. It is not a fault to log.
    if ((error as { code?: string }).code === 'ECONNRESET')
      throw badRequest('The connection ended before the whole body arrived.')
    throw error
  } finally {
    clearInterval(timer)
  }
}

export const card_type = 'text/vcard'
export const sheet_type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const table = 'Send a table, as CSV or .xlsx.'
// Files that people send in place of rows, by their first bytes.
const others: readonly [RegExp, string][] = [
  [/^PK\x03\x04.{26}mimetypeapplication\/vnd\.oasis/s, open_document],
  [/^PK\x03\x04.{26}Index\//s, numbers_file],
  [
    /^PK\x03\x04/,
    `The file is an Excel or ZIP file. Save the sheet as CSV, or send an .xlsx file with Content-Type ${sheet_type}.`,
  ],
  [
    /^\xd0\xcf\x11\xe0/,
    'The file is an old Excel file, or one with a password. Save the sheet as CSV, or as .xlsx without a password.',
  ],
  [/^(\x1f\x8b|7z\xbc\xaf|Rar!\x1a|BZh\d1AY|\xfd7zXZ)/, 'The file is compressed. Unpack it first.'],
  [/^%PDF/, `The file is a PDF file. ${table}`],
  [/^\{\\rtf/, text_document],
  [
    /^(\x89PNG|\xff\xd8\xff|GIF8|RIFF.{4}WEBP|II\*\0|MM\0\*|BM.{4}\0{4}|.{4}ftyp|\s*<svg\b)/s,
    `The file is a picture or a film. ${table}`,
  ],
  [/^(\xef\xbb\xbf)?\s*BEGIN:VCALENDAR/i, `The file is a calendar. ${table}`],
  [
    /^(\xef\xbb\xbf)?\s*<(!doctype\s+html|html|head|body|table|meta)\b/i,
    'The file is a web page. Open it in a spreadsheet, and save it as .xlsx or CSV.',
  ],
  [
    /^(\xef\xbb\xbf)?\s*\[\s*[{[]/,
    'The file is a list of JSON. Write one object a line, and send it with Content-Type application/x-ndjson.',
  ],
  [
    /^(\xef\xbb\xbf)?\s*<\?xml/i,
    'The file is an XML file. Open it in a spreadsheet, and save it as .xlsx or CSV.',
  ],
]
const sign_bytes = 256

/** Throws 400 for a file of another type, with what to do. */
export function refuseOthers(format: FileFormat, start: Buffer): void {
  const first = start.toString('latin1', 0, sign_bytes)
  const found = others.find(([sign]) => sign.test(first))
  const is_zip = first.startsWith('PK\x03\x04')
  if (format === 'xlsx' && !is_zip && !found)
    throw badRequest('The file is not an .xlsx file. Save the sheet as .xlsx or CSV, and send that file.')
  // The parts of a ZIP file say what it is.
  if (found && !(format === 'xlsx' && is_zip)) throw badRequest(found[1])
}

/** How a text file is read, by all of its bytes for the encoding and by its start for the delimiter and the header. */
export async function textForm(
  { format, header_row }: FileFacts,
  encoding: Encoding,
  start: Buffer,
  findHeader: FindHeader,
): Promise<TextForm> {
  if (format === 'archive') return { format: 'ndjson', encoding: 'utf-8' }
  refuseOthers(format, start)
  // Later lines may have a character that no field takes: each is an error of its row.
  const [first_line = ''] = start.toString('latin1', 0, sign_bytes).split(/[\r\n]/, 1)
  if (!encoding.startsWith('utf-16') && first_line.includes('\0'))
    throw badRequest(`The file is not a text. ${table}`)
  const sample = start.subarray(0, sample_bytes)
  const text = new TextDecoder(encoding).decode(sample)
  const has_cards = /^\s*BEGIN:VCARD\s/i.test(text)
  if (has_cards !== (format === 'vcf'))
    throw badRequest(
      has_cards
        ? `The file has vCards. Send it with Content-Type ${card_type}.`
        : 'The file has no vCards. Its first line must be BEGIN:VCARD.',
    )
  if (format === 'ndjson' || format === 'vcf') return { format, encoding }
  if (/^\s*\{\s*"/.test(text))
    throw badRequest('The file has lines of JSON. Send it with Content-Type application/x-ndjson.')
  const first = guessDelimiter(text)
  const cells = (form: CsvForm) => firstCells(sample, { ...form, encoding }, searched_rows)
  const rows = cells(first)
  if (header_row === null && rows[0]?.length === 1) {
    // A note does not show the delimiter. Other rows do, if one of them is the header.
    const behind = guessBehindNotes(text)
    const row = await findHeader(cells(behind))
    if (row > 1) return { format: 'csv', encoding, ...behind, header_row: row }
  }
  const row = header_row ?? (await findHeader(rows))
  return { format: 'csv', encoding, ...first, ...(row > 1 && { header_row: row }) }
}
