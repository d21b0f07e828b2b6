import type { RawBuilder } from 'kysely'
import type { TSchema } from 'typebox'
import type { Moment } from '../cells/days.ts'
import type { ChoiceList } from '../db/choices.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Context } from '../events/context.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import type { Resource } from './resource.ts'
import type { Match } from './writing/match.ts'
import type { Operations } from './writing/operations.ts'
import type { Records } from './writing/records.ts'

/** A type of timeline entries that are not records. Their resource defines how to find and show them. */
export type OtherEntries = {
  type: string
  /** Among entries with the same time, a higher rank comes first. */
  rank: number
  /** The content of `data`, for the API's documentation. */
  about: string
  /** Their rows in the timeline of a resource's records, with `at` and `id`; undefined: none. */
  rowsOf(
    owner: Resource,
  ): ((p: { workspace_id: number; owner_id: number }) => RawBuilder<unknown>) | undefined
  /** The data of these entries by their ids. Soft-deleted ones may be missing. */
  load(db: Db, workspace_id: number, ids: number[]): Promise<Map<number, object>>
}

/** How the rows of a file become records of a resource. */
export type ImportForm = {
  /** Names of columns in exports of other programs, by the field. They are compared without case, blanks and signs. */
  headers: Readonly<Record<string, readonly string[]>>
  /** Names of columns that often are the field. They are taken if the file has no other column of it. */
  likely_headers?: Readonly<Record<string, readonly string[]>>
  /** Fields for whose values the workspace keeps texts of its own, and their list. */
  choices?: Readonly<Record<string, ChoiceList>>
  /** References that a column may give by name, in a column such as `company` for `company_id`. */
  by_name: readonly string[]
  /** The fields into which a column `name` is split (cells/person-names.ts). */
  split_name?: readonly [string, string]
  /** Labels of codes, by the field and the code, in English and German. */
  labels?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  /** Fields whose numbers may have a percent sign. */
  percent?: readonly string[]
  /** Columns that no field takes as they are, by the form of their cells; `texts` collects several columns. `join` makes fields of them. */
  parts?: Readonly<Record<string, 'text' | 'texts' | 'code' | 'boolean' | 'moment'>>
  /** Sets the fields that the parts of a row give. Returns what contradicts itself. */
  join?(row: JoinedRow): { field: string; message: string }[]
  /** Fields that only an existing record takes: the import changes the new record. */
  after_create?: readonly string[]
  /** Fields of the body of an import or of its undo that requests cannot send. An undo has them as they were. */
  sets?: readonly string[]
  /** Fields whose value is derived from others unless a row sets it. An undo does not change such a value. */
  derived?(before: object): readonly string[]
}

/** A row of a file whose parts become fields: `data` is the body of its request. `now` is a time of ISO 8601. */
export type JoinedRow = {
  data: Record<string, unknown>
  parts: ReadonlyMap<string, unknown>
  now: string
  /** A moment of the zone of the file as a time of ISO 8601. */
  timeOf(moment: Moment): string
  /** Says that a part is not used: another column has decided. */
  leave(part: string): void
}

/** The parts of a resource that the rest of the program uses: reads of its records, its operations and its endpoints. */
export type Room = Pick<
  Records<{ id: number }, object>,
  'resource' | 'listedById' | 'detailed' | 'detailsByIds'
> & {
  /** The operations on its records. Notes have other operations, which also name their record. */
  operations?: Operations<{ id: number }>
  /** The bodies of its operations, and the fields by which an upsert finds a record. With it, there is a batch endpoint. */
  batch?: { create: TSchema; update: TSchema; match: readonly Match[] }
  /** How an import of an archive writes the records of a kind without a batch endpoint. Its items run one by one. */
  archived?: Required<Pick<Room, 'operations' | 'batch'>>
  /** The detail view: its schema, and how it is read. Needed for kinds that can be merged. */
  details?: {
    view: TSchema
    find(db: Db, workspace_id: number, id: number): Promise<{ id: number } | null>
  }
  /**
   * Gives a part, such as a note, or a row of a list of ids to another record. Needed for parts and lists of kinds that can be
   * merged.
   */
  give?(tx: Tx, context: Context, id: number, owner_id: number): Promise<object>
  /** How files are imported. Needs `batch`. */
  import?: ImportForm
  /** Entries of timelines besides its records, such as the stage changes of deals. */
  entries?: OtherEntries
  /** Adds its endpoints to the service. */
  routes(app: App, service: Service): void
}
