import type { QueryClient } from '@tanstack/react-query'

// For each resource (first part of a query key), the number of optimistic updates under way; and the
// resources that became stale meanwhile.
const ahead = new Map<string, number>()
const old = new Set<string>()

/** Whether the page shows an optimistic update of a resource. */
export const isAhead = (resource: string): boolean => ahead.has(resource)

/**
 * Reads shown data of these resources again; resolves when it is there. During an optimistic update, the
 * end of the update reads instead: an earlier answer would show the old state.
 */
export async function readAgain(
  client: QueryClient,
  resources: Iterable<string>,
  options?: { cancelRefetch: boolean },
): Promise<void> {
  for (const resource of resources) old.add(resource)
  const now = [...old].filter((resource) => !isAhead(resource))
  for (const resource of now) old.delete(resource)
  await Promise.all(now.map((resource) => client.invalidateQueries({ queryKey: [resource] }, options)))
}

// The reads under way that will be repeated at their end.
const repeated = new Set<Promise<unknown>>()

/**
 * Reads shown data of these resources again after a change of somebody else. A read under way ends first, and is then
 * repeated, because its answer may be from before the change. To restart it would show nothing new on a slow line,
 * where the next change comes before the answer.
 */
export function readAfterChange(client: QueryClient, resources: Iterable<string>): void {
  const those = [...resources]
  for (const resource of those) {
    const begun = client.getQueryCache().findAll({ queryKey: [resource], fetchStatus: 'fetching' })
    for (const { promise, queryKey } of begun) {
      if (!promise || repeated.has(promise)) continue
      repeated.add(promise)
      const again = () => {
        if (isAhead(resource)) old.add(resource)
        else client.invalidateQueries({ queryKey, exact: true })
      }
      promise.then(again, () => {}).finally(() => repeated.delete(promise))
    }
  }
  readAgain(client, those, { cancelRefetch: false })
}

/** Runs work whose result the page already shows. The caller calls readAgain afterwards. */
export async function shownAhead<T>(resources: readonly string[], work: () => Promise<T>): Promise<T> {
  const count = (more: 1 | -1) => {
    for (const resource of resources) {
      const now = (ahead.get(resource) ?? 0) + more
      if (now) ahead.set(resource, now)
      else ahead.delete(resource)
    }
  }
  count(1)
  try {
    return await work()
  } finally {
    count(-1)
  }
}
