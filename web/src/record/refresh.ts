import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { readAgain } from '../api/read-again.ts'

/** Reads again what is shown of these resources; resolves when it is there. */
export function useRefresh(): (...resources: string[]) => Promise<void> {
  const client = useQueryClient()
  return useCallback((...resources) => readAgain(client, resources), [client])
}

/** Stores a change of a record and shows what the service answers. */
export function useStored<Changes>(
  { queryKey }: { queryKey: QueryKey },
  send: (changes: Changes) => Promise<unknown>,
  touched: readonly string[],
): (changes: Changes) => Promise<void> {
  const client = useQueryClient()
  const refresh = useRefresh()
  return async (changes) => {
    client.setQueryData(queryKey, await send(changes))
    // Others are read again beside, so that the field need not wait for them.
    refresh(...touched)
  }
}
