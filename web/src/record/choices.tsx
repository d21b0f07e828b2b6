import { type ComponentProps, useCallback } from 'react'
import type { RecordKind } from '../api/record-api.ts'
import { useTexts } from '../texts/texts.ts'
import { type Choice, ReferenceInput } from '../ui/reference.tsx'
import { type Kind, useKind, useKinds, useLabels } from './kinds.ts'

// More typed letters find the other records.
const per_page = 20

/** Searches the records of a kind. */
export function useSearch(): (kind: RecordKind) => (words: string) => Promise<Choice[]> {
  const t = useTexts()
  const kinds: Record<string, Kind> = useKinds()
  return useCallback((kind) => async (words) => kinds[kind]?.search?.(words, per_page, t) ?? [], [kinds, t])
}

type ChooserProps = Omit<ComponentProps<typeof ReferenceInput>, 'kind' | 'search' | 'label'> & {
  kind: RecordKind
  /** Left out: the label of a reference to the kind. */
  label?: string
}

/** Chooses a record by a part of its name. */
export function RecordChooser({ kind, label, ...given }: ChooserProps) {
  const labelOf = useLabels(kind)
  const search = useSearch()
  const { noun } = useKind(kind)
  return (
    <ReferenceInput {...given} label={label ?? labelOf(`${noun}_id`)} kind={kind} search={search(kind)} />
  )
}
