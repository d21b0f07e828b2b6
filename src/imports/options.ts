import type { Static } from 'typebox'
import type { Definition } from '../custom-fields/definition-rules.ts'
import { type FieldProblem, invalid } from '../errors.ts'
import { matchOf } from '../resources/batch/items.ts'
import { zoneOf } from '../resources/values/time-zone.ts'
import type { MappingOptions } from './columns.ts'
import { createMapping } from './mapping.ts'
import type { ImportRoom } from './rows.ts'
import type { ImportOptions, ImportQuery } from './schema.ts'

// The options of an import, from its query.

type Query = Static<ReturnType<typeof ImportQuery>>

/** The options of an import. Throws 422 with the problems of its query. */
export function optionsFrom(
  query: Query,
  room: ImportRoom,
  definitions: readonly Definition[],
  caller: { mayMake: (field: string) => boolean; time_zone: string },
): ImportOptions {
  const { on_match = 'create', program = null } = query
  const { match: fields = [] } = room.batch ?? {}
  const match = query.match ?? fields[0]?.field ?? ''
  const problems: FieldProblem[] = []
  if (query.match !== undefined && query.on_match === undefined)
    problems.push({
      field: 'on_match',
      code: 'required',
      message: 'on_match is required with match: update or skip. With create, each row makes a record.',
    })
  if (query.match !== undefined || on_match !== 'create') {
    const { problem } = matchOf({ resource: room.resource, match: fields }, definitions, match)
    if (problem) problems.push(problem)
  }
  const { columns, rest } = mappingFrom(query, room, problems)
  const cells = cellsFrom(query.cells, problems)
  if (problems.length) throw invalid(problems)
  return {
    on_match,
    match: on_match === 'create' ? null : match,
    tags: query.tags ?? 'add',
    bad_cells: query.bad_cells ?? 'fail',
    cells,
    dry_run: query.dry_run === 'true',
    columns,
    rest,
    program,
    time_zone: query.time_zone === undefined ? caller.time_zone : zoneOf({ time_zone: query.time_zone }),
    makes: room.import.by_name.filter(caller.mayMake),
  }
}

/** The options of an import of an archive. Throws 422 with those that only rows of one kind have. */
export function archiveOptions(query: Query): ImportOptions {
  const problems = (
    [
      'on_match',
      'match',
      'tags',
      'bad_cells',
      'cells',
      'columns',
      'rest',
      'program',
      'time_zone',
      'encoding',
      'header_row',
      'sheet',
    ] as const
  ).flatMap((field): FieldProblem[] =>
    query[field] === undefined || query[field] === 'ignore'
      ? []
      : [{ field, code: 'not_allowed', message: `${field} is not allowed with resource=workspace.` }],
  )
  if (problems.length) throw invalid(problems)
  const dry_run = query.dry_run === 'true'
  return {
    on_match: 'create',
    match: null,
    tags: 'add',
    bad_cells: 'fail',
    cells: {},
    dry_run,
    columns: {},
    rest: 'ignore',
    program: null,
    time_zone: 'UTC',
    makes: [],
  }
}

/** The cells of a query; adds the problem of another form. */
function cellsFrom(text: string | undefined, problems: FieldProblem[]): ImportOptions['cells'] {
  const cells = text === undefined ? {} : parseObject(text)
  const areCells = (row: unknown) =>
    isObject(row) && Object.values(row).every((cell) => typeof cell === 'string')
  if (cells && Object.entries(cells).every(([row, of_row]) => /^[1-9]\d*$/.test(row) && areCells(of_row)))
    return cells as ImportOptions['cells']
  problems.push({
    field: 'cells',
    code: 'invalid_format',
    message:
      'cells must be a JSON object of rows, such as {"8":{"E-mail":"ana@acme.example"}}, with a text for each header.',
  })
  return {}
}

/** The columns of a query; adds the problems of those that name no field. */
export function mappingFrom(
  { columns: sent, rest }: Pick<Query, 'columns' | 'rest'>,
  room: ImportRoom,
  problems: FieldProblem[],
): MappingOptions {
  const columns = parseColumns(sent)
  const { targets } = createMapping(room, { columns: {}, rest })
  const unknown = Object.values(columns ?? {}).filter(
    (field) =>
      field !== null && !targets.includes(field) && !/^custom_fields\.(?!__proto__$).{1,64}$/su.test(field),
  )
  if (!columns)
    problems.push({
      field: 'columns',
      code: 'invalid_format',
      message:
        'columns must be a JSON object, such as {"Firm":"company"}, with null for columns to leave out.',
    })
  if (unknown.length)
    problems.push({
      field: 'columns',
      code: 'unknown_field',
      message: `columns has "${unknown[0]?.slice(0, 100)}", which is not a field. The fields are: ${targets.join(', ')}, custom_fields.KEY.`,
    })
  return { columns: columns ?? {}, rest }
}

/**
 * Throws 422 if `columns` or `cells` have a header that the file does not have. `names` are the headers of the file; null
 * if they are not known.
 */
export function refuseUnknownHeaders(
  { columns, cells = {} }: Pick<ImportOptions, 'columns'> & Partial<Pick<ImportOptions, 'cells'>>,
  names: readonly string[] | null,
): void {
  if (!names) return
  refuseHeaders('columns', Object.keys(columns), names)
  refuseHeaders('cells', [...new Set(Object.values(cells).flatMap(Object.keys))], names)
}

function refuseHeaders(field: string, headers: readonly string[], names: readonly string[]): void {
  const unknown = headers.filter((header) => !names.includes(header))
  if (!unknown.length) return
  const quoted = (headers: readonly string[]) => {
    const some = headers.slice(0, max_named).map((header) => `"${header.slice(0, 100)}"`)
    return [...some, ...(headers.length > max_named ? ['…'] : [])].join(', ')
  }
  throw invalid([
    {
      field,
      code: 'not_found',
      message: `${field} has ${quoted(unknown)}, which the file does not have. Its headers are: ${quoted(names)}.`,
    },
  ])
}

// The most headers in a message. A file may have 500.
const max_named = 50

function parseColumns(text: string | undefined): MappingOptions['columns'] | null {
  if (text === undefined) return {}
  const columns = parseObject(text)
  const is_valid =
    columns && Object.values(columns).every((field) => field === null || typeof field === 'string')
  return is_valid ? (columns as MappingOptions['columns']) : null
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
