import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { readAgain } from '../api/read-again.ts'
import { type ChangesOf, type RecordKind, type RecordOf, recordApi } from '../api/record-api.ts'
import { staleAfter, useKind } from './kinds.ts'

/** Reads again what is shown of these resources; resolves when it is there. */
export function useRefresh(): (...resources: string[]) => Promise<void> {
  const client = useQueryClient()
  return useCallback((...resources) => readAgain(client, resources), [client])
}

/** Reads again what a change of a kind of record makes stale. */
export function useRefreshAfter(kind: RecordKind): () => Promise<void> {
  const refresh = useRefresh()
  const of_kind = useKind(kind)
  return useCallback(() => refresh(...staleAfter(of_kind)), [refresh, of_kind])
}

/** Shows a record as the service answers it, and reads again what its change makes stale, without waiting for it. */
export function useShowChanged<K extends RecordKind>(kind: K): (record: RecordOf<K>) => void {
  const client = useQueryClient()
  const refresh = useRefreshAfter(kind)
  return (record) => {
    client.setQueryData<unknown>(recordApi(kind).query((record as { id: number }).id).queryKey, record)
    refresh()
  }
}

/** Stores changes of a record, and shows what the service answers. */
export function useStored<K extends RecordKind>(kind: K, id: number) {
  const show = useShowChanged(kind)
  return async (changes: ChangesOf<K>): Promise<void> => show(await recordApi(kind).change(id, changes))
}
