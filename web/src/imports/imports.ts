import { queryOptions } from '@tanstack/react-query'
import { answerOf, api, dataOf, type Schemas } from '../api/client.ts'
import type { paths } from '../api/schema'
import { upload } from '../api/upload.ts'
import { all_kinds } from '../kinds.ts'

/** The contents of an import: rows of a kind, or the archive of a workspace. */
export type Imported = paths['/api/v1/imports']['post']['parameters']['query']['resource']
/** The kinds that files can be imported as. */
export type ImportedKind = Exclude<Imported, 'workspace'>
export const imported_kinds = all_kinds
  .filter(({ matches }) => matches)
  .map(({ kind }) => kind as ImportedKind)
export const isImported = (kind: string): kind is ImportedKind =>
  imported_kinds.some((imported) => imported === kind)

export type Import = Omit<Schemas['Import'], 'resource'> & { resource: Imported }
export type Preview = Schemas['ImportPreview']
export type Undone = Schemas['ImportUndone']

export type Choices = ArchiveChoice | RowChoices
/** An archive says itself what its rows become. */
type ArchiveChoice = { resource: 'workspace' }

/** Cells that a person has mended, by the number of the row and the header. */
export type Cells = Record<string, Record<string, string>>

/** The facts of a file that a person chooses. Null: it is found. */
export type FileFacts = { encoding: string | null; sheet: string | null; header_row: string | null }
export const found_facts: FileFacts = { encoding: null, sheet: null, header_row: null }

export type RowChoices = FileFacts & {
  resource: ImportedKind
  on_match: 'create' | 'update' | 'skip'
  match: string
  /** How the tags of a row join those of the record that it changes. */
  tags: 'add' | 'replace'
  rest: 'ignore' | 'custom_fields'
  columns: Record<string, string | null>
  /** Whether a row with a cell that its field does not take fails, or loses the cell. */
  bad_cells: 'fail' | 'leave_out'
  /** Null: found by the headers. */
  program: string | null
  /** Null: the person's zone. */
  time_zone: string | null
}

const path = '/api/v1/imports'

const sheet_type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const types: [RegExp, string][] = [
  [/\.(ndjson|jsonl)$/i, 'application/x-ndjson'],
  [/\.xls[xm]$/i, sheet_type],
  [/\.vcf$/i, 'text/vcard'],
]
export const typeOf = (name: string): string => types.find(([ending]) => ending.test(name))?.[1] ?? 'text/csv'

const given = (facts: Record<string, string | null>) =>
  Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== null)

const archive_type = 'application/gzip'

// The start of a file shows its columns, but the directory of a workbook is at its end.
const preview_bytes = 1024 * 1024
const nothing = () => {}

export const readPreview = (
  file: File,
  { resource, rest, ...facts }: Omit<RowChoices, 'on_match' | 'match' | 'tags' | 'columns' | 'bad_cells'>,
  signal: AbortSignal,
) =>
  upload<Preview>(
    `${path}/preview?${new URLSearchParams([['resource', resource], ['rest', rest], ...given(facts)])}`,
    typeOf(file.name) === sheet_type ? file : file.slice(0, preview_bytes),
    typeOf(file.name),
    nothing,
    signal,
  )

/** Counts the rows of an archive. All of it is sent. */
export const countArchive = (file: File, onProgress: (share: number) => void, signal: AbortSignal) =>
  upload<Preview>(`${path}/preview?resource=workspace`, file, archive_type, onProgress, signal)

/** The query of an import. */
export function queryOf(choices: Choices, name: string, dry_run: boolean, cells: Cells = {}) {
  const { resource } = choices
  const query = new URLSearchParams({
    resource,
    dry_run: String(dry_run),
    file_name: name.slice(-255),
  })
  if (choices.resource === 'workspace') return query
  const { resource: _, on_match, match, tags, rest, columns, bad_cells, ...facts } = choices
  query.set('bad_cells', bad_cells)
  if (Object.keys(cells).length) query.set('cells', JSON.stringify(cells))
  query.set('on_match', on_match)
  query.set('rest', rest)
  if (on_match !== 'create') query.set('match', match)
  if (on_match === 'update') query.set('tags', tags)
  for (const [name, value] of given(facts)) query.set(name, value)
  if (Object.keys(columns).length) query.set('columns', JSON.stringify(columns))
  return query
}

/** Sends a file to be imported, or only to be checked. */
export const startImport = (
  file: File,
  choices: Choices,
  dry_run: boolean,
  onProgress: (share: number) => void,
  cells: Cells = {},
) =>
  upload<Import>(
    `${path}?${queryOf(choices, file.name, dry_run, cells)}`,
    file,
    choices.resource === 'workspace' ? archive_type : typeOf(file.name),
    onProgress,
  )

export const hasEnded = ({ status }: Import): boolean => status !== 'queued' && status !== 'running'

const poll_ms = 1000

/** An import, read again while it runs. */
export const importQuery = (id: string) =>
  queryOptions({
    queryKey: ['imports', 'one', id],
    queryFn: async ({ signal }) =>
      (await dataOf(api.GET('/api/v1/imports/{import_id}', { ...at(id), signal }))) as Import,
    refetchInterval: ({ state: { data } }) => (data && !hasEnded(data) ? poll_ms : false),
  })

const at = (import_id: string) => ({ params: { path: { import_id } } })

export async function listImports(query: { page: number; per_page: number }, signal: AbortSignal) {
  const { data, meta } = await answerOf(api.GET('/api/v1/imports', { params: { query }, signal }))
  return { data: data as Import[], meta }
}
export const cancelImport = (id: string) =>
  answerOf(api.POST('/api/v1/imports/{import_id}/cancel', { ...at(id), body: {} }))
export const undoImport = (id: string) =>
  dataOf(api.POST('/api/v1/imports/{import_id}/undo', { ...at(id), body: {} }))

export const errorsHref = (id: string): string => `${path}/${id}/errors`

// The table shows the first errors; the file has all.
const shown_characters = 100_000

/** The start of the file with the errors. */
export async function readErrors(id: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(errorsHref(id), { signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (response.ok && reader && text.length < shown_characters) {
    const { value, done } = await reader.read()
    if (done) return text
    text += value
  }
  await reader?.cancel()
  // Without the line that may be cut off.
  return text.slice(0, text.lastIndexOf('\r\n') + 2)
}
