import type { Texts } from '../texts/texts.ts'

/** Scopes by resource: contacts → read, write. */
export function byResource(scopes: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const scope of scopes) {
    const [resource = '', verb = ''] = scope.split(':')
    found.set(resource, [...(found.get(resource) ?? []), verb])
  }
  return found
}

export const resourceName = (resource: string, t: Texts): string =>
  t.settings.resources[resource as keyof Texts['settings']['resources']] ?? resource

/** What a key may do, in words: each resource once, and whether it is only read. */
export function scopeNames(scopes: readonly string[], t: Texts): string[] {
  return [...byResource(scopes)].map(([resource, verbs]) => {
    const name = resourceName(resource, t)
    if (verbs.length === 2) return name
    return verbs[0] === 'read' ? t.settings.only_read(name) : t.settings.only_write(name)
  })
}
