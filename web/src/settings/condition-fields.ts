import type { Schemas } from '../api/client.ts'
import { includesEvent } from './event-groups.ts'

type Schema = {
  type?: string | string[]
  format?: string
  enum?: (string | null)[]
  const?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
}

/** How the value of a field is entered. */
export type FieldType = { kind: 'text' | 'number' | 'boolean' | 'day'; choices: string[] }

// The service judges before these are known, or they are the same in every event of a webhook.
const left_out = ['id', 'sequence', 'webhook_id', 'data', 'previous', 'actor', 'test']

/** The fields of the payloads of events, with how their values are entered. */
export function conditionFields(
  types: readonly Schemas['EventType'][] | undefined,
  events: readonly string[],
): Map<string, FieldType> {
  const found = new Map<string, FieldType>()
  for (const { name, schema } of types ?? []) {
    if (!includesEvent(events, name)) continue
    const { properties = {} } = schema as Schema
    collect(properties.data ?? {}, 'data', found)
    for (const [field, of] of Object.entries(properties))
      if (!left_out.includes(field)) found.set(field, typeOf(of))
    collect(properties.actor ?? {}, 'actor', found)
  }
  return found
}

function collect({ properties = {} }: Schema, path: string, found: Map<string, FieldType>): void {
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.properties) collect(schema, `${path}.${name}`, found)
    else found.set(`${path}.${name}`, typeOf(schema))
  }
}

function typeOf({ type = [], format, enum: choices = [] }: Schema): FieldType {
  const types = [type].flat()
  const kind =
    types.includes('number') || types.includes('integer')
      ? 'number'
      : types.includes('boolean')
        ? 'boolean'
        : format === 'date'
          ? 'day'
          : 'text'
  return { kind, choices: choices.filter((one) => typeof one === 'string') }
}
