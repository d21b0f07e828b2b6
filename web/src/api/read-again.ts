import type { QueryClient } from '@tanstack/react-query'

// Resources (the first parts of queries' keys) of which something is shown that the service has not answered yet, with how
// many such works there are; and those that are old meanwhile.
const ahead = new Map<string, number>()
const old = new Set<string>()

/** Whether something of a resource is shown ahead of the service. */
export const isAhead = (resource: string): boolean => ahead.has(resource)

/**
 * Reads again what is shown of these resources; resolves when it is there. Of what is shown ahead of the service, the end of
 * that work reads: an answer from before would take the change back for a moment.
 */
export async function readAgain(client: QueryClient, resources: Iterable<string>): Promise<void> {
  for (const resource of resources) old.add(resource)
  const now = [...old].filter((resource) => !isAhead(resource))
  for (const resource of now) old.delete(resource)
  await Promise.all(now.map((resource) => client.invalidateQueries({ queryKey: [resource] })))
}

/** Reads once more what is being read of these resources for the first time: its answer may be from before the change. */
export function readTwice(client: QueryClient, resources: Iterable<string>): void {
  for (const resource of resources) {
    const begun = client.getQueryCache().findAll({ queryKey: [resource], fetchStatus: 'fetching' })
    // One that has data already is begun anew by readAgain.
    for (const { state, promise, queryKey } of begun)
      if (state.data === undefined)
        promise?.then(
          () => client.invalidateQueries({ queryKey, exact: true }),
          () => {},
        )
  }
}

/** Does work whose end is shown already of these resources. Afterwards its caller says what is to be read again. */
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
