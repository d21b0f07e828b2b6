import { Readable } from 'node:stream'
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl'
import { FileError } from './rows.ts'
import { kindOfFormat, type NumberKind } from './sheet-values.ts'
import { readXml } from './xml.ts'

// An .xlsx file is a ZIP file of XML files. Its directory is at its end, so it is read when all of it has arrived.

/** A file of which any part can be read. */
export type FileBytes = { size: number; read(from: number, to: number): AsyncIterable<Buffer> }

/** An open workbook, with one of its sheets. */
export type Workbook = {
  /** The names of its sheets, in their order. */
  sheets: readonly string[]
  sheet: string
  /** Whether its days count from 1904, as on old Macs. */
  is_1904: boolean
  /** The kinds of numbers, by the style of a cell. */
  kinds: readonly NumberKind[]
  /** The bytes of the sheet's XML, and how many they are. */
  openSheet(): { bytes: AsyncIterable<Buffer>; size: number }
  /** The bytes of the XML with the texts of cells. Null if the sheets have all texts themselves. */
  openTexts(): AsyncIterable<Buffer> | null
}

/** The largest .xlsx file. A preview keeps it in memory. */
export const max_workbook_bytes = 64 * 1024 * 1024
const max_entries = 10_000
const max_part_bytes = 16 * 1024 * 1024
// Excel has 65,490 formats of cells.
const max_formats = 2 ** 16

const damaged = () => new FileError('The file is damaged. Open it, and save it as .xlsx again.')
export const numbers_file = 'The file is a Numbers file. Export it as CSV or .xlsx, and send that file.'
export const open_document = 'The file is an OpenDocument file. Save it as .xlsx or CSV, and send that file.'
export const text_document = 'The file is a text document. Send a table, as CSV or .xlsx.'
const others: readonly [RegExp, string][] = [
  [/^index\//, numbers_file],
  [/^xl\/workbook\.bin$/, 'The file is an .xlsb file. Save it as .xlsx or CSV, and send that file.'],
  [/^content\.xml$/, open_document],
  [/^word\//, text_document],
]

/** Opens a sheet by its name or its number; null: the first one. Throws FileError, and NoSuchSheet. */
export async function openWorkbook(file: FileBytes, wanted: string | null): Promise<Workbook> {
  const { zip, entries } = await openZip(file)
  const open = (path: string): AsyncIterable<Buffer> | null => {
    const entry = entries.get(path.toLowerCase())
    return entry ? bytesOf(zip, entry) : null
  }
  const other = others.find(([name]) => [...entries.keys()].some((path) => name.test(path)))
  if (other && !entries.has('xl/workbook.xml')) throw new FileError(other[1])
  const relations = await relationsOf(open('_rels/.rels'), '')
  const [book] = [...relations.values()].filter(({ type }) => type === 'officeDocument')
  const path = book?.path ?? 'xl/workbook.xml'
  const content = open(path)
  if (!content)
    throw new FileError('The file is a ZIP file without a workbook. Send a table, as .xlsx or CSV.')
  const { sheets, is_1904 } = await sheetsOf(content)
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const parts = await relationsOf(open(`${folder}_rels/${path.slice(folder.length)}.rels`), folder)
  const tables = sheets.filter(({ relation }) => parts.get(relation)?.type === 'worksheet')
  const names = tables.map(({ name }) => name)
  const found =
    wanted === null ? (tables.find(({ is_hidden }) => !is_hidden) ?? tables[0]) : chosen(tables, wanted)
  if (!found) throw wanted === null ? damaged() : new NoSuchSheet(names)
  const partOf = (type: string) => [...parts.values()].find((part) => part.type === type)?.path ?? ''
  const sheet_path = (parts.get(found.relation) as Relation).path
  const sheet = entries.get(sheet_path.toLowerCase())
  if (!sheet) throw damaged()
  return {
    sheets: names,
    sheet: found.name,
    is_1904,
    kinds: await kindsOf(open(partOf('styles'))),
    openSheet: () => ({ bytes: bytesOf(zip, sheet), size: sheet.uncompressedSize }),
    openTexts: () => open(partOf('sharedStrings')),
  }
}

/** The workbook has no sheet of the wanted name or number. */
export class NoSuchSheet extends Error {
  readonly sheets: readonly string[]
  constructor(sheets: readonly string[]) {
    super()
    this.sheets = sheets
  }
}

type Sheet = { name: string; relation: string; is_hidden: boolean }

const chosen = (sheets: readonly Sheet[], wanted: string): Sheet | undefined =>
  sheets.find(({ name }) => name === wanted) ??
  sheets.find(({ name }) => name.toLowerCase() === wanted.trim().toLowerCase()) ??
  (/^\d{1,4}$/.test(wanted) ? sheets[Number(wanted) - 1] : undefined)

async function openZip(file: FileBytes): Promise<{ zip: ZipFile; entries: Map<string, Entry> }> {
  // An error of the reader is not the fault of the file.
  let failure: unknown = null
  class Reader extends RandomAccessReader {
    override _readStreamForRange(from: number, to: number): Readable {
      const parts = async function* () {
        try {
          yield* file.read(from, to)
        } catch (error) {
          failure = error
          throw error
        }
      }
      return Readable.from(parts(), { objectMode: false })
    }
  }
  const entries = new Map<string, Entry>()
  try {
    const options = { lazyEntries: true, autoClose: false }
    const zip = await fromRandomAccessReaderPromise(new Reader(), file.size, options)
    if (zip.entryCount > max_entries) throw new FileError(`The file has more than ${max_entries} parts.`)
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName.toLowerCase(), entry)
    return { zip, entries }
  } catch (error) {
    throw failure ?? (error instanceof FileError ? error : damaged())
  }
}

/** The bytes of a part. An error of them is one of the file, unless it comes from the reader below. */
async function* bytesOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let stream: Readable
  try {
    stream = await zip.openReadStreamPromise(entry)
  } catch (error) {
    throw isOfZip(error) ? damaged() : error
  }
  try {
    for await (const part of stream) yield part as Buffer
  } catch (error) {
    throw isOfZip(error) ? damaged() : error
  }
}

// yauzl throws plain errors, and zlib those with codes of its own.
const isOfZip = (error: unknown): boolean =>
  error instanceof Error &&
  (error.constructor === Error || /^Z_/.test((error as { code?: string }).code ?? ''))

type Relation = { type: string; path: string }

/** The parts that a part refers to, by their ids. */
async function relationsOf(
  bytes: AsyncIterable<Buffer> | null,
  folder: string,
): Promise<Map<string, Relation>> {
  const found = new Map<string, Relation>()
  await readAll(bytes, (name, { Id, Type = '', Target = '' }) => {
    if (name !== 'Relationship' || !Id) return
    const path = new URL(Target.replaceAll('\\', '/'), `file:///${folder}`).pathname.slice(1)
    found.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), path: decodeURIComponent(path) })
  })
  return found
}

async function sheetsOf(bytes: AsyncIterable<Buffer>): Promise<{ sheets: Sheet[]; is_1904: boolean }> {
  const sheets: Sheet[] = []
  let is_1904 = false
  await readAll(bytes, (name, attributes) => {
    if (name === 'workbookPr') is_1904 = /^(1|true|on)$/.test(attributes.date1904 ?? '')
    if (name !== 'sheet') return
    const [, relation = ''] = Object.entries(attributes).find(([key]) => /:id$/.test(key)) ?? []
    const is_hidden = /hidden/i.test(attributes.state ?? '')
    sheets.push({ name: attributes.name ?? '', relation, is_hidden })
  })
  return { sheets, is_1904 }
}

/** The kinds of numbers of all styles. */
async function kindsOf(bytes: AsyncIterable<Buffer> | null): Promise<NumberKind[]> {
  const codes = new Map<number, string>()
  const ids: number[] = []
  let is_of_cells = false
  await readAll(
    bytes,
    (name, { numFmtId, formatCode }) => {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode ?? '')
      if (name === 'cellXfs') is_of_cells = true
      if (name === 'xf' && is_of_cells && ids.length < max_formats) ids.push(Number(numFmtId ?? 0))
    },
    (name) => {
      if (name === 'cellXfs') is_of_cells = false
    },
  )
  return ids.map((id) => kindOfFormat(id, codes.get(id)))
}

async function readAll(
  bytes: AsyncIterable<Buffer> | null,
  open: (name: string, attributes: Readonly<Record<string, string>>) => void,
  close: (name: string) => void = () => {},
): Promise<void> {
  if (bytes) for await (const _ of readXml(bytes, { open, text: () => {}, close }, max_part_bytes));
}
