import { queryOptions } from '@tanstack/react-query'
import { createQuerySerializer } from 'openapi-fetch'
import {
  type Aborted,
  answerOf,
  api,
  dataOf,
  Problem,
  type Schemas,
  type Tagged,
  taggedOf,
} from './client.ts'
import type {
  Answer,
  ChangesOf,
  List,
  NewOf,
  Operation,
  QueryOf,
  RecordKind,
  RecordOf,
} from './record-types.ts'

export type { ChangesOf, NewOf, QueryOf, RecordKind, RecordOf, RowOf } from './record-types.ts'

type BatchBody = Schemas['BatchContactsBody']
type BatchResult = Schemas['BatchContactsAnswer']['data'][number]
/** A change of one record in a batch. */
export type BatchItem = Pick<BatchBody['items'][number], 'op' | 'id' | 'add_tags' | 'remove_tags'> & {
  data?: object
}

// The types above check each path. The client cannot type a path that is built at run time.
const untyped = api as unknown as Record<
  'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE',
  (path: string, init: object) => Promise<{ data?: never; error?: unknown; response: Response }>
>

/** The path of a kind in the API. */
const apiPath = (kind: RecordKind): string => `/api/v1/${kind.replaceAll('_', '-')}`

const toText = createQuerySerializer()

/** The formats of an exported list. */
export const export_formats = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof export_formats)[number]

/** The header of a write that is refused if the record has another tag by now. */
export const matching = (etag: string | undefined) => (etag ? { 'If-Match': etag } : undefined)

/** Whether a write was refused because the record has changed since it was read. */
export const isStale = (error: unknown): boolean =>
  error instanceof Problem && error.status === 412 && error.conditional

/** The operations that every kind of record has, with the types of the API. */
export function recordApi<K extends RecordKind>(kind: K) {
  const path = apiPath(kind)
  const one = `${path}/{id}`
  const at = (id: number, header?: object) => ({ params: { path: { id }, header } })
  const read = (id: number, signal?: AbortSignal): Promise<RecordOf<K> & Tagged> =>
    taggedOf(untyped.GET(one, { ...at(id), signal }))
  const list = (query: QueryOf<K>, signal?: AbortSignal) =>
    answerOf<Answer<List<K>>>(untyped.GET(path, { params: { query }, signal }))

  /**
   * Adds or removes a tag, with If-Match. If another person changed the record in between, tries once more.
   * Resolves to undefined if there was nothing to change.
   */
  async function changeTag(
    id: number,
    tag: string,
    wanted: boolean,
    again = true,
  ): Promise<RecordOf<K> | undefined> {
    const { tags, etag } = (await read(id)) as unknown as { tags: string[] } & Tagged
    if (tags.includes(tag) === wanted) return
    const body = { tags: wanted ? [...tags, tag] : tags.filter((other) => other !== tag) }
    try {
      return await taggedOf(untyped.PUT(one, { ...at(id, matching(etag)), body }))
    } catch (error) {
      if (again && isStale(error)) return changeTag(id, tag, wanted, false)
      throw error
    }
  }

  return {
    kind,
    list,
    read,
    changeTag,
    create: (body: NewOf<K>): Promise<RecordOf<K>> => dataOf(untyped.POST(path, { body })),
    /** Changes a record; with an entity tag, only if it still has this one. */
    change: (id: number, body: ChangesOf<K>, etag?: string): Promise<RecordOf<K> & Tagged> =>
      taggedOf(untyped.PUT(one, { ...at(id, matching(etag)), body })),
    remove: (id: number): Promise<unknown> => answerOf(untyped.DELETE(one, at(id))),
    restore: (id: number): Promise<RecordOf<K>> =>
      dataOf(untyped.POST(`${one}/restore`, { ...at(id), body: {} })),
    /** Changes up to 1,000 records, each for itself, or all or none; only of kinds that have it (batch.ts). */
    batch: (items: BatchItem[], { atomic = false } = {}): Promise<BatchResult[]> =>
      dataOf(untyped.POST(`${path}/batch`, { body: { atomic, items } })),
    /** A page of the timeline; only of kinds that have one. */
    timeline: (id: number, query: { cursor: string; per_page: number }, signal: AbortSignal) =>
      answerOf<Answer<Operation<'/api/v1/contacts/{id}/timeline', 'get'>>>(
        untyped.GET(`${one}/timeline`, { params: { path: { id }, query }, signal }),
      ),
    /** The address of the list as a file. */
    exportHref: (query: object, format: ExportFormat) => `${path}/export?${toText({ ...query, format })}`,
    /** The number of rows of that file. Throws if the service refuses the file. */
    async countExported(query: object, signal?: AbortSignal): Promise<number> {
      const asked = untyped.HEAD(`${path}/export`, { params: { query }, signal })
      await answerOf(asked)
      return Number((await asked).response.headers.get('x-total-count'))
    },
    listQuery: (query: QueryOf<K>) => ({
      queryKey: [kind, 'list', query],
      queryFn: ({ signal }: Aborted) => list(query, signal),
    }),
    /** The groups of the list (docs/lists.md); only of kinds that have an owner. */
    groupsQuery: (query: object) => ({
      queryKey: [kind, 'groups', query],
      read: ({ signal }: Aborted): Promise<Schemas['GroupsOfDeals']> =>
        dataOf(untyped.GET(`${path}/groups`, { params: { query }, signal })),
    }),
    query: (id: number) =>
      queryOptions({ queryKey: [kind, 'record', id], queryFn: ({ signal }) => read(id, signal) }),
  }
}
