import type { Names } from '../record/kinds.ts'
import type { Texts } from '../texts/with-settings.ts'

/** Scopes by resource: contacts → read, write. */
export function byResource(scopes: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const scope of scopes) {
    const [resource = '', verb = ''] = scope.split(':')
    found.set(resource, [...(found.get(resource) ?? []), verb])
  }
  return found
}

/** The name of a resource: that of a kind of record, else that of its page of the settings. */
export function resourceName(resource: string, t: Texts): string {
  const { resources, pages } = t.settings
  const kinds: Record<string, Names | undefined> = t.kinds
  const page = pages[resource as keyof typeof pages]?.label
  return kinds[resource]?.many ?? resources[resource as keyof typeof resources] ?? page ?? resource
}

/** The scopes of a key in words, each resource once. */
export function scopeNames(scopes: readonly string[], t: Texts): string[] {
  return [...byResource(scopes)].map(([resource, verbs]) => {
    const name = resourceName(resource, t)
    if (verbs.length === 2) return name
    return verbs[0] === 'read' ? t.settings.only_read({ name }) : t.settings.only_write({ name })
  })
}
