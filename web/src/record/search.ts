import { useCallback } from 'react'
import type { RecordKind } from '../api/record-api.ts'
import { useTexts } from '../texts/texts.ts'
import type { Choice } from '../ui/reference.tsx'
import { type Kind, useKinds } from './kinds.ts'

// More typed letters find the other records.
const per_page = 20

/** Searches the records of a kind. */
export function useSearch(): (
  kind: RecordKind,
) => (words: string, signal?: AbortSignal) => Promise<Choice[]> {
  const t = useTexts()
  const kinds: Record<string, Kind> = useKinds()
  return useCallback(
    (kind) => async (words, signal) => kinds[kind]?.search?.(words, per_page, t, signal) ?? [],
    [kinds, t],
  )
}
