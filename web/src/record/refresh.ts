import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { changeSince } from '../api/change-since.ts'
import type { Tagged } from '../api/client.ts'
import { readAgain } from '../api/read-again.ts'
import { type ChangesOf, type RecordKind, type RecordOf, recordApi } from '../api/record-api.ts'
import { staleAfter, useKinds } from './kinds.ts'
import { askWhose } from './page/conflicts.ts'

/** Reads shown data of these resources again; resolves when it is there. */
export function useRefresh(): (...resources: string[]) => Promise<void> {
  const client = useQueryClient()
  return useCallback((...resources) => readAgain(client, resources), [client])
}

/** Reads again what a change of a kind of record makes stale. */
export function useRefreshAfter(kind: RecordKind): () => Promise<void> {
  const refresh = useRefresh()
  const kinds = useKinds()
  return useCallback(() => refresh(...staleAfter(kinds[kind], Object.values(kinds))), [refresh, kinds, kind])
}

/** Shows a record from an answer, and reads stale data again in the background. */
export function useShowChanged<K extends RecordKind>(kind: K): (record: RecordOf<K>) => void {
  const client = useQueryClient()
  const refresh = useRefreshAfter(kind)
  return (record) => {
    client.setQueryData<unknown>(recordApi(kind).query((record as { id: number }).id).queryKey, record)
    refresh()
  }
}

/**
 * Stores changes of a record and shows the answer. The function belongs to the record as it is now: an edit keeps
 * the one with which it began, so that a change of somebody else meanwhile is noticed.
 */
export function useStored<K extends RecordKind>(kind: K, record: RecordOf<K> & Tagged) {
  const show = useShowChanged(kind)
  let base = record
  return async (changes: ChangesOf<K>): Promise<void> => {
    base = await changeSince(kind, base, changes, askWhose)
    show(base)
  }
}
