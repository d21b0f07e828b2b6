import type { TSchema } from 'typebox'

/** An event of the catalogue: its public name, and the schema of `data`. Exactly the keys of the schema are sent. */
export type EventDefinition = {
  name: string
  summary: string
  data: TSchema
  /** The keys of `data`. */
  fields: readonly string[]
  example: Record<string, unknown>
}

export const defineEvent = (
  name: string,
  summary: string,
  data: TSchema,
  example: Record<string, unknown>,
): EventDefinition => {
  const { properties = {} } = data as { properties?: object }
  return { name, summary, data, fields: Object.keys(properties), example }
}

/** The version of the payload's form. A form that breaks receivers gets another one. */
export const api_version = '2026-12-01'

/** The values of `source` in payloads: the way of the change. */
export const event_sources = ['api', 'app', 'import', 'booking', 'merge', 'backfill', 'service'] as const

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun}`

/** An example value of a schema, built from the examples of its properties. */
export function exampleOf(schema: TSchema): unknown {
  const { examples, properties } = schema as { examples?: unknown[]; properties?: Record<string, TSchema> }
  if (examples?.length) return examples[0]
  if (!properties) return null
  return Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, exampleOf(part)]))
}

/** The three events of most resources: created, updated, deleted. All carry the detail view. */
export function standardEvents(
  noun: string,
  data: TSchema,
  example = exampleOf(data) as Record<string, unknown>,
): [EventDefinition, EventDefinition, EventDefinition] {
  const subject = withArticle(noun)
  return [
    defineEvent(`${noun}.created`, `${subject} was created.`, data, example),
    defineEvent(`${noun}.updated`, `${subject} was changed or restored.`, data, example),
    defineEvent(`${noun}.deleted`, `${subject} was moved to the trash.`, data, example),
  ]
}

/** The changes of an invented update of the example. */
export function exampleChanges(example: Record<string, unknown>): Changes {
  const [changed = ''] = Object.keys(example).filter((field) => field !== 'id')
  return { changed_fields: [changed], previous: { [changed]: `Old ${example[changed]}` } }
}

/** The links of a booking, beside the data of its events. Null: it cannot be changed, or its link is not stored. */
export type Links = { cancel_url: string | null; reschedule_url: string | null }

/** The changes of an update: names of top-level fields, and their whole old values (contract: events). */
export type Changes = { changed_fields: string[]; previous: Record<string, unknown> }
