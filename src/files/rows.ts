import type { Cards } from './cards.ts'
import type { CsvForm } from './delimiter.ts'
import type { Encoding } from './encoding.ts'
import type { SheetForm } from './sheet-rows.ts'

/** How a file of rows is read. */
export type FileForm = TextForm | SheetForm
export type TextForm = { encoding: Encoding } & (({ format: 'csv' } & CsvForm) | Lines | Cards)
export type Lines = { format: 'ndjson'; max_characters?: number }

/** A row of a file: the names of its columns and their values. */
export type FileRow = {
  /** As a spreadsheet shows it: the header of a CSV file is row 1. */
  number: number
  names: readonly string[]
  /** Texts in a CSV file, cells of a sheet with their types, else JSON values. */
  values: readonly unknown[]
  /** The row as it was sent: of lines of JSON, and the start of a row beyond a limit. Absent: cells. */
  text?: string
  /** Whether its numbers are those of a sheet, also where people write texts, such as telephone numbers. */
  is_typed?: true
  /** Why the row cannot be read. */
  problem?: RowProblem
  /** The row stands for so many blank lines, of which it has the number of the last one. */
  blank_lines?: number
  /** Of a row in an archive: the file and the kind of its records. */
  archived?: { file: string; line: number; kind: string; id: number | null }
}

/** Why a row cannot be read. */
export const row_problems = [
  'too_many_cells',
  'row_too_long',
  'invalid_encoding',
  'too_deep',
  'invalid_json',
  'not_an_object',
  'too_many_names',
] as const
export type RowProblem = { code: (typeof row_problems)[number]; message: string }

/** The problem of a row with bytes that are not valid in the encoding of its file. */
export const invalidEncoding = (encoding: Encoding): RowProblem => ({
  code: 'invalid_encoding',
  message: `The row has bytes that are not valid in ${encoding}. Save the file in one encoding, or name its encoding.`,
})

/** The file is not readable beyond some row. The message says what to do. */
export class FileError extends Error {}

/** How many of the lines that rows stand for are blank. */
export const blankLinesOf = (rows: readonly FileRow[]): number =>
  rows.reduce((lines, { blank_lines = 0 }) => lines + blank_lines, 0)

/** How many lines rows stand for. A row of a CSV file counts as one line. */
export const linesOf = (rows: readonly FileRow[]): number =>
  rows.reduce((lines, { blank_lines = 1 }) => lines + blank_lines, 0)

/** The characters of a row. Blank lines count, too, so that a file of them is divided as any other one. */
export function charactersOf({ values, text, blank_lines }: FileRow): number {
  if (text !== undefined) return text.length
  let characters = blank_lines ?? values.length
  for (const value of values) characters += typeof value === 'string' ? value.length : 8
  return characters
}

/** Limits of a row. A quote that is not closed may make one row of the rest of the file. */
export const max_row_characters = 256 * 1024
export const max_cells = 2000
/** The columns of a header, and the names of a line of JSON. */
export const max_columns = 500
/** Of a row that is not read, this is enough to recognise it. */
export const kept_characters = 4096
/** A copy of the start of a row that is not read. A part of a text would keep the whole text in memory. */
export const startOf = (row: string): string => Buffer.from(row.slice(0, kept_characters)).toString()
/** As in the body of a request. Deeper values would overflow the stack of the code that walks through them. */
export const max_json_depth = 64
/** Names and values together, as in the body of a request. */
export const max_json_parts = 50_000
