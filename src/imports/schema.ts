import { type Static, Type } from 'typebox'
import { NamedActor } from '../events/actors.ts'
import {
  Exact,
  flag,
  IntegerOrNull,
  MaybeText,
  nullableObject,
  OptionalTimestamp,
  TextOrNull,
  Titled,
} from '../http/fields.ts'
import { type TagsChoice, tags_choices } from '../resources/batch/items.ts'
import type { Target } from './columns.ts'
import { programs } from './programs/index.ts'

export const statuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'undone'] as const

export const bad_cells_choices = ['fail', 'leave_out'] as const

/** How the rows of a file become records. Stored with the import. */
export type ImportOptions = {
  on_match: 'create' | 'update' | 'skip'
  match: string | null
  /** How the tags of a row join those of the record that it matches. */
  tags: TagsChoice
  dry_run: boolean
  /** Whether a row with a cell that its field does not take fails, or loses the cell. */
  bad_cells: (typeof bad_cells_choices)[number]
  /** Cells by the number of their row and their header, in place of those of the file. Removed when the import ends. */
  cells: Record<string, Record<string, string>>
  columns: Record<string, Target | null>
  rest: 'custom_fields' | 'ignore'
  /** The program that wrote the file; null: it is found by the headers. `none`: no known one. */
  program: string | null
  /** The zone of times without an offset. */
  time_zone: string
  /** Whether the caller may make a record that a row names, such as a company: the fields of these references. */
  makes: string[]
}

const code = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

const columns = MaybeText({
  maxLength: 12_000,
  description:
    'JSON: the field of each column by its header, such as `{"Firm":"company"}`; null leaves a column out.',
})
const cells = MaybeText({
  maxLength: 6000,
  description:
    'JSON: cells in place of those of the file, by the number of the row and the header, such as `{"8":{"E-mail":"ana@acme.example"}}`.',
})
const rest = code(['ignore', 'custom_fields'], {
  default: 'ignore',
  description: 'What becomes of columns without a field.',
})
const program = Type.Optional(
  code(['none', ...programs.map(({ id }) => id)], {
    description: 'The program that wrote the file, if its headers do not tell it; none for no known one.',
  }),
)
const time_zone = MaybeText({
  maxLength: 64,
  description:
    'The IANA name of the time zone of times without an offset. The default is the zone of the person, or that of the first administrator who has one.',
  examples: ['Europe/Berlin'],
})
const encoding = MaybeText({
  maxLength: 40,
  description:
    'The encoding of the file, by a name that browsers know. It goes before the charset of the content type, and after a byte order mark. By default it is found.',
  examples: ['windows-1252'],
})
const header_row = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'The row of the header, as a spreadsheet numbers it. By default it is found.',
  }),
)
const sheet = MaybeText({
  minLength: 1,
  maxLength: 100,
  description: 'The sheet of a workbook, by its name or its number from 1. By default the first visible one.',
})
const resourceOf = (names: readonly string[]) => Type.Unsafe<string>({ type: 'string', enum: [...names] })

/** The query of an import; `names` are the resources that have one. */
export const ImportQuery = (names: readonly string[]) =>
  Exact({
    resource: resourceOf(names),
    on_match: Type.Optional(
      code(['create', 'update', 'skip'], {
        description:
          'What a row does with the record that it matches. Default create: nothing is matched. Required with match.',
      }),
    ),
    match: MaybeText({
      maxLength: 80,
      description:
        'The field by which a row finds its record; by default email, or the name. A row without it makes a record.',
    }),
    tags: Type.Optional(
      code(tags_choices, {
        description:
          'What the tags of a row do with those of the record that it matches. Default add; replace: the record gets the tags of the row alone.',
      }),
    ),
    bad_cells: Type.Optional(
      code(bad_cells_choices, {
        description:
          'What becomes of a row with a cell that its field does not take. Default fail: the row is an error. leave_out: the row is imported without the cell, and the errors list it.',
      }),
    ),
    cells,
    dry_run: flag('true: counts and errors as usual, but no record is written.'),
    columns,
    rest,
    program,
    time_zone,
    encoding,
    header_row,
    sheet,
    file_name: MaybeText({ minLength: 1, maxLength: 255 }),
  })

export const PreviewQuery = (names: readonly string[]) =>
  Exact({ resource: resourceOf(names), columns, rest, program, time_zone, encoding, header_row, sheet })

export const ImportParams = Type.Object({ import_id: Type.String() })

const count = (description: string) => Type.Integer({ description })
const counts = {
  rows_read: count('Rows of the file so far, with its blank lines.'),
  created: count('Records that were made.'),
  updated: count('Records that changed.'),
  skipped: count('Rows whose record was there already, and did not change. Blank lines, too.'),
  failed: count('Rows with an error.'),
}
const KindCounts = Titled('ImportKind', { kind: Type.String({ examples: ['contacts'] }), ...counts })
export type KindCounts = Static<typeof KindCounts>

const ColumnAccount = Titled('ImportColumn', {
  header: Type.String({ examples: ['Deal - Value'] }),
  field: TextOrNull({
    description: 'The field, the custom field or the part of a record. Null: nothing.',
    examples: ['value'],
  }),
  stored: count('Cells that were stored as they are.'),
  changed: count('Cells that were stored in another form, such as 1.250,50 as 1250.5.'),
  left_out: count('Cells that were not stored.'),
  reasons: Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Why cells were left out, with their numbers.',
    examples: [{ other_value: 3 }],
  }),
})

export const Import = Titled('Import', {
  id: Type.String({ examples: ['imp_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  resource: Type.String({ examples: ['contacts'] }),
  status: code(statuses),
  file_name: TextOrNull({ examples: ['contacts.csv'] }),
  options: Titled('ImportOptions', {
    on_match: Type.String(),
    match: TextOrNull(),
    tags: Type.String(),
    bad_cells: Type.String(),
    dry_run: Type.Boolean(),
    columns: Type.Unsafe<Record<string, string | null>>({ type: 'object', additionalProperties: true }),
    rest: Type.String(),
    program: TextOrNull(),
    time_zone: Type.String(),
  }),
  progress: Type.Number({
    minimum: 0,
    maximum: 1,
    examples: [0.42],
    description: 'The share of the file that was read. An archive is read once for each kind.',
  }),
  ...counts,
  kinds: Type.Array(KindCounts, {
    description:
      'The same numbers for each kind of rows that was read, in the order of their import. An archive has several kinds.',
  }),
  program: TextOrNull({
    description: 'The program that wrote the file, once it is recognised. Null for another file.',
    examples: ['hubspot'],
  }),
  file_type: code(['csv', 'ndjson', 'xlsx', 'vcf', 'archive'], {
    description: 'How the file was read, with encoding, sheet and header_row.',
  }),
  encoding: TextOrNull({
    description: 'The encoding of a text. Null for a workbook.',
    examples: ['windows-1252'],
  }),
  sheet: TextOrNull({ examples: ['Contacts'] }),
  header_row: IntegerOrNull({
    description: 'The row of the header. Null for a file without a header.',
    examples: [1],
  }),
  columns: Type.Array(ColumnAccount, {
    description:
      'The account of the cells: each one with a value was stored, stored in another form, or left out. Rows that could not be read are in the errors. Empty for an archive, and in the list of imports.',
  }),
  errors: count('Entries in the errors: also those of imported rows that lack a link.'),
  message: TextOrNull({
    description: 'Why the import failed; null otherwise.',
  }),
  created_at: Type.String({ format: 'date-time' }),
  started_at: OptionalTimestamp(),
  finished_at: OptionalTimestamp(),
  created_by: NamedActor,
})
export type Import = Static<typeof Import>

export const Preview = Titled('ImportPreview', {
  file_type: code(['csv', 'ndjson', 'xlsx', 'vcf', 'archive']),
  encoding: Type.String({ examples: ['utf-8'] }),
  encoding_is_guess: Type.Boolean({
    description:
      'Whether neither the request, nor a byte order mark, nor all characters of the file decide the encoding.',
  }),
  encoding_sample: TextOrNull({
    description:
      'A text of the file in this encoding, with characters beyond ASCII. Null: the file has none.',
    examples: ['Zoë Müller'],
  }),
  delimiter: TextOrNull({ examples: [','] }),
  header_row: IntegerOrNull({
    description: 'The row of the header, as a spreadsheet numbers it. Null for a file without a header.',
    examples: [1],
  }),
  sheet: TextOrNull({
    description: 'The sheet of a workbook. Null for other files.',
    examples: ['Contacts'],
  }),
  sheets: Type.Array(Type.String(), { description: 'The sheets of a workbook, in their order.' }),
  columns: Type.Array(
    Type.Object({
      header: Type.String(),
      field: TextOrNull(),
      reason: TextOrNull({
        description:
          'Why it has no field: no_field, read_only, other_kind (of another kind of record) or left_out (by the request).',
      }),
      decimal: TextOrNull({
        description: 'The decimal sign of its numbers. Null: no cell decides it, or it has no numbers.',
      }),
      has_times: Type.Boolean({ description: 'Whether its cells are times, which have a zone.' }),
      day_order: TextOrNull({
        description:
          'day_first or month_first, for days such as 05/06/2026. Null: no cell decides it, or it has no days.',
      }),
    }),
  ),
  program: nullableObject(
    Titled(
      'ImportProgram',
      {
        id: Type.String({ examples: ['pipedrive'] }),
        label: Type.String({ examples: ['Pipedrive'] }),
        kind: Type.String({
          description: 'The kind of records of the file, which may be another one.',
          examples: ['deals'],
        }),
        evidence: Type.Array(Type.String(), { description: 'The headers by which it was recognised.' }),
      },
      { description: 'The program that wrote the file. Null for another file.' },
    ),
  ),
  programs: Type.Array(Type.Object({ id: Type.String(), label: Type.String() }), {
    description: 'The programs that a request can name.',
  }),
  time_zone: Type.String({ description: 'The zone of times without an offset.' }),
  existing: nullableObject(
    Titled(
      'ImportExisting',
      {
        field: Type.String({ examples: ['email'] }),
        rows: Type.Integer({
          description: 'The first rows, at most 1,000, that have a value of the field.',
        }),
        found: Type.Integer({ description: 'Those of them whose value a record has.' }),
      },
      {
        description: 'Whether rows name records that exist, by the field that match has by default.',
      },
    ),
  ),
  fields: Type.Array(Type.String(), { description: 'The fields that a column can have.' }),
  rows: Type.Array(Type.Array(Type.Unsafe<unknown>({})), {
    description: 'The first 20 rows: the cells in the order of the columns.',
  }),
  kinds: Type.Array(Type.Object({ kind: Type.String({ examples: ['contacts'] }), rows: Type.Integer() }), {
    description: 'The rows of an archive by their kind, in the order of their import. Empty for other files.',
  }),
  complete: Type.Boolean({
    description:
      'false for an archive with more than 1 GiB of content, which was not counted to its end, and for lines or cards with more than 500 different names, of which the first 500 are shown.',
  }),
})
export type Preview = Static<typeof Preview>

export const Undone = Titled('ImportUndone', {
  restored: Type.Integer({ description: 'Records that were removed or put back.' }),
  left: Type.Array(
    Type.Object({
      kind: Type.String(),
      id: Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        description: 'A text for a saved view.',
      }),
      reason: Type.String({ description: 'changed, deleted, in_use or the code of an error.' }),
    }),
    { description: 'The first 1,000 records that were left as they are.' },
  ),
})
export type Left = Static<typeof Undone>['left']
