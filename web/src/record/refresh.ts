import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'

/** Reads again what is shown of these resources; resolves when it is there. */
export function useRefresh(): (...resources: string[]) => Promise<void> {
  const client = useQueryClient()
  return useCallback(
    async (...resources) => {
      await Promise.all(resources.map((resource) => client.invalidateQueries({ queryKey: [resource] })))
    },
    [client],
  )
}
