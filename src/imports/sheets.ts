import { createPace } from '../db/pace.ts'
import { badRequest, invalid } from '../errors.ts'
import { FileError } from '../files/rows.ts'
import { namesOf, type SheetForm, sheetRows } from '../files/sheet-rows.ts'
import { type FileBytes, NoSuchSheet, openWorkbook, type Workbook } from '../files/workbook.ts'
import { type FindHeader, searched_rows } from './header-row.ts'

/** A sheet of a file, and the names of its columns. */
export type OpenSheet = { workbook: Workbook; form: SheetForm; names: string[] }

/** Opens the sheet that a request names, or the first one, and finds its header. Throws 400, and 422 for an unknown sheet. */
export async function openSheet(
  file: FileBytes,
  { sheet, header_row }: { sheet: string | null; header_row: number | null },
  findHeader: FindHeader,
): Promise<OpenSheet> {
  try {
    const workbook = await openWorkbook(file, sheet)
    const rows = await firstCells(workbook, header_row)
    if (!rows.length && header_row === null)
      throw new FileError(`The sheet "${workbook.sheet}" is empty. Name another one with sheet.`)
    const found = header_row ?? (await findHeader(rows.map((cells) => cells ?? [])))
    const names = rows[found - 1]
    if (!names) throw new FileError(`The sheet has no row ${found}, which is to be its header.`)
    const form: SheetForm = { format: 'xlsx', sheet: workbook.sheet, header_row: found, bytes: file.size }
    return { workbook, form, names }
  } catch (error) {
    if (error instanceof FileError) throw badRequest(error.message)
    if (!(error instanceof NoSuchSheet)) throw error
    const sheets = error.sheets.slice(0, 50).map((name) => `"${name.slice(0, 100)}"`)
    const message = `The file has no such sheet. Its sheets are: ${sheets.join(', ')}.`
    throw invalid([{ field: 'sheet', code: 'not_found', message }])
  }
}

/** The cells of the first rows of a sheet, in their places; of the one row that the request names. */
async function firstCells(workbook: Workbook, header_row: number | null): Promise<(string[] | undefined)[]> {
  const cells: (string[] | undefined)[] = []
  const last = header_row ?? searched_rows
  const pace = createPace()
  for await (const rows of sheetRows(workbook, 0)) {
    for (const row of rows)
      if (row.number === header_row || (header_row === null && row.number <= last))
        cells[row.number - 1] = namesOf(row)
    if ((rows.at(-1)?.number ?? 0) >= last) break
    await pace()
  }
  // A hole of the list is a row without values.
  return Array.from(cells)
}
