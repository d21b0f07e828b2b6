import type { QueryClient } from '@tanstack/react-query'

// How many changes are shown that the service has not answered yet, and what is old until they all are.
let ahead = 0
const old = new Set<string>()

/**
 * Reads again what is shown of these resources (the first parts of the queries' keys); resolves when it is there. While
 * something is shown ahead of the service, its end reads: an answer from before would take the change back for a moment.
 */
export async function readAgain(client: QueryClient, resources: Iterable<string>): Promise<void> {
  for (const resource of resources) old.add(resource)
  if (ahead) return
  const now = [...old]
  old.clear()
  await Promise.all(now.map((resource) => client.invalidateQueries({ queryKey: [resource] })))
}

/** Does work whose end is shown already. Afterwards its caller says what is to be read again. */
export async function shownAhead<T>(work: () => Promise<T>): Promise<T> {
  ahead++
  try {
    return await work()
  } finally {
    ahead--
  }
}
