import type { TSchema } from 'typebox'

/** One event of the catalogue: its public name and the schema of `data`, whose keys are sent and no others. */
export type EventDefinition = {
  name: string
  summary: string
  data: TSchema
  example: Record<string, unknown>
}

export const defineEvent = (
  name: string,
  summary: string,
  data: TSchema,
  example: Record<string, unknown>,
): EventDefinition => ({ name, summary, data, example })

/** What an update changed: names of top-level fields and their whole old values (contract: events). */
export type Changes = { changed_fields: string[]; previous: Record<string, unknown> }
