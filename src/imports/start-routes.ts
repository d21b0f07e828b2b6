import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { readDefinitions } from '../custom-fields/definitions.ts'
import { type Db, transaction } from '../db/db.ts'
import { ApiError, badRequest, type FieldProblem, invalid } from '../errors.ts'
import { encodingOf } from '../files/encoding.ts'
import { type Access, requireScope } from '../http/auth.ts'
import { allowLongBody } from '../http/connections.ts'
import { Single, single } from '../http/envelope.ts'
import { operation } from '../http/operation.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import type { Room } from '../resources/room.ts'
import { zoneOf } from '../resources/values/time-zone.ts'
import { other_scopes } from './archive.ts'
import { headerFinder } from './header-row.ts'
import { archiveOptions, mappingFrom, optionsFrom, refuseUnknownHeaders } from './options.ts'
import { previewArchive, previewFile } from './preview.ts'
import { beginImport, dropUpload, queueImport } from './queue.ts'
import { type ImportRoom, roomOf, roomsWithImport, writtenRooms } from './rows.ts'
import { Import, ImportQuery, Preview, PreviewQuery } from './schema.ts'
import { shownImports } from './store.ts'
import { card_type, type FileFacts, type FileFormat, sheet_type, storeFile, tooLarge } from './upload.ts'

// The routes that take a file.

const path = '/api/v1/imports'
/** The content type of an archive of a workspace. Its files have lines of JSON. */
const archive_type = 'application/gzip'
/** The content types of files. */
const formats: Record<string, FileFormat> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'application/x-ndjson': 'ndjson',
  [sheet_type]: 'xlsx',
  [card_type]: 'vcf',
  'text/x-vcard': 'vcf',
  [archive_type]: 'archive',
}
const row_types = Object.keys(formats).filter((type) => type !== archive_type)
const text = { schema: { type: 'string' } }
// A body of Fastify with types that are not JSON.
const file = {
  content: {
    'text/csv': text,
    'application/x-ndjson': text,
    [sheet_type]: text,
    [card_type]: text,
    [archive_type]: text,
  },
} as unknown as TSchema
const asItIs = (body: unknown) => ({ value: body })

/** POST of a file that is imported. */
export function startRoute(app: App, service: Service, rooms: readonly Room[]): void {
  const { db, clock, write, recheckAccess, config } = service
  const max_bytes = config.max_import_mb * 1024 * 1024
  operation(
    app,
    {
      method: 'POST',
      path,
      scope: 'imports:write',
      summary: 'Import a file',
      description:
        'The body is the file: CSV, JSON lines, an .xlsx workbook or vCards (for contacts); for the resource workspace, the .tar.gz of an export of a workspace. Also needs the write scope of the resource; for the resource workspace, workspace:write, views:write and those of all kinds. The rows are imported after the answer, with the same rules as single requests. Members are not imported: a record gets the owner whose e-mail address a member has, otherwise none. An import of a workspace waits for the one before. 409 while 10 are waiting.',
      query: ImportQuery([...roomsWithImport(rooms).map(({ resource }) => resource.table), 'workspace']),
      body: file,
      checkBody: asItIs,
      answers: { 202: Single(Import) },
      repeatable: true,
      conflict: true,
    },
    async (request, reply) => {
      const { access, query } = request
      const is_archive = query.resource === 'workspace'
      requireWrites(access, query.resource)
      const { workspace_id } = access
      const options = is_archive ? archiveOptions(query) : await rowOptions(request)
      const { body, facts } = fileOf(request, query, is_archive)
      if (Number(request.headers['content-length']) > max_bytes) throw tooLarge(max_bytes)
      const elapsed = () => clock.elapsed()
      const import_id = await beginImport(db, clock, request, {
        resource: query.resource,
        options,
        file_name: query.file_name ?? null,
      })
      try {
        const findHeader = headerFinder(roomOf(rooms, is_archive ? 'contacts' : query.resource), options)
        const kept = { workspace_id, import_id, facts, findHeader, max_bytes, elapsed }
        const received = await storeFile(db, body, kept)
        refuseUnknownHeaders(options, received.names)
        // A repeated Idempotency-Key must come with the same file.
        request.raw_body = received.hash
        // An upload may take hours.
        requireWrites(await recheckAccess(db, request), query.resource)
        return await write(request, reply, async (tx, context) => {
          const row = await queueImport(tx, context, import_id, received)
          const [shown] = await shownImports(tx, workspace_id, [row])
          return { body: single(shown), status: 202 }
        })
      } finally {
        await dropUpload(db, workspace_id, import_id)
      }
    },
  )

  function requireWrites(access: Access, resource: string) {
    const written = writtenRooms(rooms, resource).map((room) => room.resource.scope)
    // An archive defines custom fields and saves views, too.
    const others = resource === 'workspace' ? Object.values(other_scopes) : []
    for (const scope of [...written, ...others]) requireScope(access, { scope: `${scope}:write` })
  }

  async function rowOptions(request: FastifyRequest & { query: Static<ReturnType<typeof ImportQuery>> }) {
    const room = roomOf(rooms, request.query.resource)
    const { workspace_id } = request.access
    const definitions = await readDefinitions(db, { workspace_id, kind: room.resource.table })
    const mayMakeOf = (field: string) => mayMake(request, rooms, room, field)
    return optionsFrom(request.query, room, definitions, {
      mayMake: mayMakeOf,
      time_zone: await zoneOfCaller(db, request.access),
    })
  }
}

type Facts = { resource: string; encoding?: string; header_row?: number; sheet?: string }

/** The file of a request, as it arrives. */
function fileOf(
  request: FastifyRequest,
  query: Facts,
  is_archive = false,
): { body: Readable; facts: FileFacts } {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';')
  const media_type = type.trim().toLowerCase()
  if (Number(request.headers['content-length']) === 0)
    throw badRequest('The body is empty. Send the file as the body.')
  const format = formats[media_type]
  const content_encoding = request.headers['content-encoding'] ?? 'identity'
  if (
    !format ||
    is_archive !== (media_type === archive_type) ||
    !(request.body instanceof Readable) ||
    content_encoding.toLowerCase() !== 'identity'
  )
    throw new ApiError(
      'unsupported_media_type',
      `Send the file as the body, with Content-Type ${is_archive ? archive_type : row_types.join(' or ')}, without a content encoding.`,
    )
  if (format === 'vcf' && query.resource !== 'contacts')
    throw invalid([{ field: 'resource', code: 'not_allowed', message: 'vCards are imported as contacts.' }])
  refuseOtherFacts(format, query)
  const { encoding, header_row = null, sheet = null } = query
  const label = encoding ?? charsetOf(parameters)
  const facts = {
    format,
    encoding: label === null ? null : namedEncoding(label),
    header_row,
    sheet,
  }
  allowLongBody(request.raw.socket)
  return { body: request.body, facts }
}

/** Throws 422 for a fact that files of a format do not have. */
function refuseOtherFacts(format: FileFormat, query: Facts): void {
  const refused = {
    csv: ['sheet'],
    xlsx: ['encoding'],
    ndjson: ['header_row', 'sheet'],
    vcf: ['header_row', 'sheet'],
    archive: [],
  }[format]
  const problems = (refused as (keyof Facts)[]).flatMap((field): FieldProblem[] =>
    query[field] === undefined
      ? []
      : [
          {
            field,
            code: 'not_allowed',
            message: `${field} is not allowed with a file of this content type.`,
          },
        ],
  )
  if (problems.length) throw invalid(problems)
}

function charsetOf(parameters: readonly string[]): string | null {
  for (const parameter of parameters) {
    const [, charset] = /^\s*charset\s*=\s*"?([^"]*?)"?\s*$/i.exec(parameter) ?? []
    if (charset) return charset
  }
  return null
}

function namedEncoding(label: string): string {
  const name = encodingOf(label)
  if (name !== null) return name
  throw new ApiError(
    'unsupported_media_type',
    `"${label.slice(0, 40)}" is not a known encoding. Use a name such as utf-8, windows-1252, iso-8859-2, windows-1251, shift_jis or gb18030.`,
  )
}

const mayMake = (
  { access: { scopes } }: FastifyRequest,
  rooms: readonly Room[],
  room: Room,
  field: string,
) => {
  const target = rooms.find(({ resource }) => resource.table === room.resource.references[field])
  return scopes === null || scopes.includes(`${target?.resource.scope}:write`)
}

/** POST of a file that is shown. */
export function previewRoute(app: App, { db, config }: Service, rooms: readonly Room[]): void {
  operation(
    app,
    {
      method: 'POST',
      path: `${path}/preview`,
      scope: 'imports:write',
      summary: 'Preview an import',
      description:
        'The first 20 rows of a file, its encoding, its delimiter, and the field that each column would have. Nothing is stored. The start of the file is enough. For the resource workspace: how many rows of each kind the whole archive has.',
      query: PreviewQuery([...roomsWithImport(rooms).map(({ resource }) => resource.table), 'workspace']),
      body: file,
      checkBody: asItIs,
      answers: { 200: Single(Preview) },
      repeatable: true,
    },
    async (request) => {
      const { query } = request
      const max_bytes = config.max_import_mb * 1024 * 1024
      if (query.resource === 'workspace') {
        archiveOptions(query)
        return single(await previewArchive(fileOf(request, query, true).body, rooms, max_bytes))
      }
      const room = roomOf(rooms, query.resource)
      const problems: FieldProblem[] = []
      const mapping = mappingFrom(query, room, problems)
      if (problems.length) throw invalid(problems)
      const { body, facts } = fileOf(request, query)
      const { workspace_id } = request.access
      const options = {
        ...mapping,
        program: query.program ?? null,
        time_zone:
          query.time_zone === undefined
            ? await zoneOfCaller(db, request.access)
            : zoneOf({ time_zone: query.time_zone }),
      }
      const defined = await readDefinitions(db, { workspace_id, kind: room.resource.table })
      const countExisting = (values: readonly string[]) => existingOf(db, workspace_id, room, values)
      return single(await previewFile(body, facts, { room, options, defined, countExisting }, max_bytes))
    },
  )
}

/** How many of some values a record has, by the field that `match` has by default. */
async function existingOf(db: Db, workspace_id: number, room: ImportRoom, values: readonly string[]) {
  const match = room.batch?.match[0]
  if (!match || !values.length) return 0
  const keys = values.map((value) => match.keyOf(value))
  const found = await transaction(db, (tx) => match.find(tx, workspace_id, [...new Set(keys)], 'read'))
  const existing = new Set(found.map(({ key }) => key))
  return keys.filter((key) => existing.has(key)).length
}

/** The zone of the person who calls, else that of the first administrator who has one, else UTC. */
async function zoneOfCaller(db: Db, { workspace_id, actor }: Access): Promise<string> {
  const zones = db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select('u.time_zone')
    .where('m.workspace_id', '=', workspace_id)
    .where('u.time_zone', 'is not', null)
  const own =
    actor.kind === 'person'
      ? await zones.where('u.id', '=', actor.id as string).executeTakeFirst()
      : undefined
  const first =
    own ??
    (await zones.where('m.role', '=', 'admin').orderBy('m.created_at').orderBy('u.id').executeTakeFirst())
  return first?.time_zone ?? 'UTC'
}
