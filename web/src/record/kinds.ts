import type { Icon } from '@primer/octicons-react'
import type { QueryClient } from '@tanstack/react-query'
import { type ComponentType, createContext, type ReactNode, useCallback, useContext } from 'react'
import type { EventName, Schemas } from '../api/client.ts'
import type { RecordKind, RecordOf, RowOf } from '../api/record-api.ts'
import type { MergedKind } from '../api/record-types.ts'
import type { KindPath, Search } from '../app/addresses.ts'
import type { Formats } from '../app/intl.ts'
import { type Texts, useTexts } from '../texts/texts.ts'
import type { Choice } from '../ui/reference.tsx'

export type { MergedKind }

/** The names of a kind, in the file kinds.json of each language. */
export type Names = {
  one: string
  many: string
  /** The same within a sentence: most languages write nouns in lower case there. */
  in_sentence: { one: string; many: string }
  /** A number of records, such as 2 contacts. */
  counted: (values: { n: number }) => string
  /** The name of the list page, if it differs from `many`. */
  page?: string
  create: string
  create_named: (values: { name: string }) => string
  delete: string
  /** The link from a record's page to the list. */
  back: string
  none: string
  /** The text of an empty list: what such records are for, and what to do. Default: `none`. */
  empty?: string
  /** Labels of fields that only this kind has, or that differ from the common ones. */
  fields?: Record<string, string>
}

/** The kinds whose records have an owner, tags and custom fields. */
export type OwnedKind = Schemas['CustomField']['resource']

/** The kinds whose lists have saved views and can be exported. */
export type ListedKind = RecordKind & Schemas['View']['list']

/** A record of a kind that is known only when the app runs. */
export type AnyRecord = RowOf<RecordKind> | RecordOf<RecordKind>

/** The references that a new record starts with, by noun. */
export type Linked = { contact?: Choice | null; company?: Choice | null; deal?: Choice | null }

export type RecordProps = {
  id: number
  /** In the side panel of the list. */
  panel?: boolean
  /** Leaves the page before the record is deleted; resolves when another page is shown. */
  onLeave: () => unknown
}

export type CreateProps = { opened: boolean; onClose: () => void; initial?: Linked }

/** How the records of a kind look in a tab of another record. */
export type Related<K extends RecordKind> = {
  row(row: RowOf<K>): ReactNode
  /** A summary of all records that match `filters`, such as their sum. */
  Summary?: ComponentType<{ filters: Record<string, number> }>
  /** The create dialog. Left out: the tab has no button. */
  Create?: ComponentType<CreateProps>
}

/** The text before the link to the record, that of the link, the one after it, and the lines below. */
type TimelineEntry = {
  label: string
  /** Left out: the record's name. Null: the label is the link. */
  text?: string | null
  state?: string | null
  /** Whether it is still to come. */
  planned?: boolean
  facts: ReactNode[]
}

/** The parts of a kind of record that the rest of the app needs. Pages are loaded when they are first shown. */
export type Kind<K extends RecordKind = RecordKind> = {
  kind: K
  /** The name in references (contact_id) and events (contact.created). */
  noun: string
  /** The path of the list. A record's page is below it. */
  path: KindPath<K>
  icon: Icon
  /** The shortcut of the list, such as `g c`. Kinds with a shortcut are in the rail. */
  keys?: string
  /** People have round initials. */
  person?: boolean
  /** Whether /path?create=1 opens the create dialog. */
  creates?: boolean
  /** Whether its records have an owner, tags and custom fields. */
  owned: K extends OwnedKind ? true : false
  /**
   * The fields by which a row of an imported file can find its record. Left out: the kind has neither imports nor
   * changes of many records in one request.
   */
  matches?: readonly string[]
  /** Whether its page begins with a timeline. */
  timeline?: boolean
  /** Fields that are amounts in the workspace's currency. */
  amounts?: readonly string[]
  /** The labels of its fields, where they are texts of its form. */
  labels?(t: Texts): { [field: string]: unknown } | undefined
  /** The events that webhooks may subscribe to. */
  events: readonly EventName[]
  /**
   * Further resources (first parts of query keys) that a change makes stale. Its own, those of kinds that
   * refer to it (`related`), timelines and the trash are always stale.
   */
  stale: readonly string[]
  nameOf(row: RowOf<K> | RecordOf<K>): string
  /** The lines of the hover card below the name. Empty lines are skipped. */
  lines(record: RecordOf<K>, t: Texts, formats: Formats): ReactNode[]
  /** The entry of a created record in the timeline of the one named `own`. Left out: `one` and the record's name. */
  timelineEntry?(row: RowOf<K>, t: Texts, formats: Formats, own: string): TimelineEntry
  /**
   * Searches by words; without words, the first records of the list. Left out: references cannot choose the
   * kind.
   */
  search?(words: string, per_page: number, t: Texts, signal?: AbortSignal): Promise<Choice[]>
  /** The text beside the name of a found record in the palette, from the search's subtitle. Null: the kind is not searched. */
  found: K extends ListedKind ? (subtitle: string, t: Texts, formats: Formats) => string : null
  /** A new record of a typed name; null if the name is not enough. Left out: a reference cannot create it. */
  named?(name: string): object | null
  list(): Promise<ComponentType>
  /** Loads the program of the view that an address of the list names. Left out: its views have one program. */
  loadView?(address: Search<KindPath<K>>): Promise<unknown>
  /** Reads what the list shows at an address without a query. Left out: the page reads it when it is drawn. */
  firstRows?(client: QueryClient): Promise<unknown>
  record(): Promise<ComponentType<RecordProps>>
  /** The dialog that logs what happened with a record, such as a call. */
  log?(): Promise<ComponentType<CreateProps>>
  /** The kinds whose pages have a tab with these records, and the order in it. */
  related?: {
    to: readonly RecordKind[]
    /** The kinds that offer to create one in the header of their records. */
    header?: readonly RecordKind[]
    sort?: string
    address?: Search<KindPath<K>>
    load(): Promise<Related<K>>
  }
}

/** Whether the search and saved views know a kind. */
export const isListed = (kind: Kind): kind is Kind<ListedKind> => kind.found !== null

export const isMerged = (kind: string): kind is MergedKind => kind === 'contacts' || kind === 'companies'

export type Kinds = { [K in RecordKind]: Kind<K> }

/** The table of kinds, provided by main.tsx, so that nothing here imports a room. */
export const KindsContext = createContext<Kinds | null>(null)

export function useKinds(): Kinds {
  const kinds = useContext(KindsContext)
  if (!kinds) throw new Error('There is no table of kinds here.')
  return kinds
}

/** The kinds in the order of the table. */
export const useAllKinds = (): Kind[] => Object.values(useKinds())

const isOwned = (kind: Kind): kind is Kind<OwnedKind> => kind.owned

/** The kinds whose records have an owner, tags and custom fields. */
export const useOwnedKinds = (): OwnedKind[] =>
  useAllKinds()
    .filter(isOwned)
    .map(({ kind }) => kind)

export const useKind = <K extends RecordKind>(kind: K): Kinds[K] => useKinds()[kind]

/** The names of a kind in the person's language. */
export const useNames = (kind: RecordKind): Names => useTexts().kinds[kind]

/**
 * Resources (first parts of query keys) that a change makes stale: its own, its `stale` ones, those of
 * kinds in `all` that refer to it, timelines and the trash.
 */
export function staleAfter(
  { kind, stale }: Pick<Kind, 'kind' | 'stale'>,
  all: readonly Kind[] = [],
): string[] {
  const referring = all.flatMap((other) => (other.related?.to.includes(kind) ? [other.kind] : []))
  return [...new Set([kind, ...stale, ...referring, 'timeline', 'trash'])]
}

/**
 * The labels of fields of a kind: its own, else the common ones. `kind` may also be one without a page,
 * such as webhooks.
 */
export function useLabels(kind: string): (field: string) => string {
  const texts = useTexts()
  const fields: Partial<Record<string, string>> = texts.fields
  const kinds: Partial<Record<string, Names>> = texts.kinds
  const own = kinds[kind]?.fields
  const { labels }: Pick<Kind, 'labels'> = useKinds()[kind as RecordKind] ?? {}
  return useCallback(
    (field) => {
      const label = own?.[field] ?? fields[field] ?? labels?.(texts)?.[field]
      return typeof label === 'string' ? label : field
    },
    [own, fields, labels, texts],
  )
}
