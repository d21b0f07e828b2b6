import type { Icon } from '@primer/octicons-react'
import { type ComponentType, createContext, type ReactNode, useCallback, useContext } from 'react'
import type { EventName } from '../api/client.ts'
import type { RecordKind, RecordOf, RowOf } from '../api/record-api.ts'
import type { Formats } from '../app/intl.ts'
import { type Language, type Texts, useLanguage, useTexts } from '../texts/texts.ts'
import type { Choice } from '../ui/reference.tsx'

/** What a kind is called, in one language. */
export type Names = {
  one: string
  many: string
  /** The page with all of them, where it is not called as they are. */
  page?: string
  create: string
  delete: string
  /** The link from a record's page to the list. */
  back: string
  none: string
  /** An empty list: what such records are for, and what to do. Left out: `none`. */
  empty?: string
  /** The labels of fields that only this kind has, or calls otherwise. */
  fields?: Record<string, string>
}

/** The records that a new record begins with, by their nouns. */
export type Linked = { contact?: Choice | null; company?: Choice | null; deal?: Choice | null }

export type RecordProps = {
  id: number
  /** In the side panel of the list. */
  panel?: boolean
  /** Shows something else before the record goes to the trash; resolves when that is there. */
  onLeave: () => unknown
}

export type CreateProps = { opened: boolean; onClose: () => void; initial?: Linked }

/** How the records of a kind look in a tab of another record. */
export type Related<K extends RecordKind> = {
  row(row: RowOf<K>): ReactNode
  /** A word about all of them, such as their sum; `filters` choose them. */
  Summary?: ComponentType<{ filters: Record<string, number> }>
  /** The dialog that creates another one. Left out: the tab has no button for it. */
  Create?: ComponentType<CreateProps>
}

/** Before the record's name, behind it, and below it. */
type TimelineEntry = { label: string; state?: string | null; facts: ReactNode[] }

/** Everything that other parts of the app know about a kind of record. Its pages are loaded when they are first shown. */
export type Kind<K extends RecordKind = RecordKind> = {
  kind: K
  /** As references (contact_id) and events (contact.created) call one. */
  noun: string
  /** The address of the list; a record's page is below it. */
  path: string
  icon: Icon
  /** The keys that go to the list, such as `g c`. A kind with keys has a place in the rail. */
  keys?: string
  /** A person is drawn round. */
  person?: boolean
  /** Whether /path?create=1 opens the dialog that creates one. */
  creates?: boolean
  /** Whether its page begins with a timeline. */
  timeline?: boolean
  names: Record<Language, Names>
  /** What a webhook may ask for. */
  events: readonly EventName[]
  /** The first parts of the queries' keys that a change makes stale, beside its own, the timelines and the trash. */
  stale: readonly string[]
  nameOf(row: RowOf<K> | RecordOf<K>): string
  /** What the card of a link shows below the name; empty lines are left out. */
  lines(record: RecordOf<K>, t: Texts, formats: Formats): ReactNode[]
  /** How a timeline shows that one was created. Left out: by what one is called. */
  timelineEntry?(row: RowOf<K>, t: Texts, formats: Formats): TimelineEntry
  /** Finds records by words; without words the first ones of the list. Left out: no record can refer to one. */
  search?(words: string, per_page: number, t: Texts): Promise<Choice[]>
  /** Whether the palette searches them, too. */
  palette?: boolean
  list(): Promise<ComponentType>
  record(): Promise<ComponentType<RecordProps>>
  /** The records in whose tabs they are listed, and in which order. */
  related?: { to: readonly RecordKind[]; sort?: string; address?: object; load(): Promise<Related<K>> }
}

export type Kinds = { [K in RecordKind]: Kind<K> }

/** The table of kinds, which the app gives to all below it: nothing here imports a folder of the table. */
export const KindsContext = createContext<Kinds | null>(null)

export function useKinds(): Kinds {
  const kinds = useContext(KindsContext)
  if (!kinds) throw new Error('There is no table of kinds here.')
  return kinds
}

/** The kinds in the order of the table. */
export const useAllKinds = (): Kind[] => Object.values(useKinds())

export const useKind = <K extends RecordKind>(kind: K): Kinds[K] => useKinds()[kind]

/** What a kind is called in the reader's language. */
export const useNames = (kind: RecordKind): Names => useKind(kind).names[useLanguage()]

/** The first parts of the queries' keys that a change of a record makes stale. */
export const staleAfter = (kind: Pick<Kind, 'kind' | 'stale'>): string[] => [
  kind.kind,
  ...kind.stale,
  'timeline',
  'trash',
]

/** The labels of fields: as the kind calls them, else as all do. What has no page, such as a webhook, has none of its own. */
export function useLabels(kind: string): (field: string) => string {
  const { fields } = useTexts().record
  const language = useLanguage()
  const own = useKinds()[kind as RecordKind]?.names[language].fields
  return useCallback((field) => own?.[field] ?? fields[field] ?? field, [own, fields])
}
