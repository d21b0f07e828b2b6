import { isSubscribed } from '../../db/subscriptions.ts'
import type { FieldProblem } from '../../errors.ts'
import { type Condition, compare, operators, pathOf } from '../../events/conditions.ts'
import type { EventDefinition } from '../../events/define.ts'
import { nearestName } from '../../http/query-names.ts'

const max_conditions = 20
const max_field = 200
const max_text = 1024
const max_values = 100
const max_bytes = 16 * 1024

const scalars = ['string', 'number', 'boolean']
const scalar_types = scalars.map((type) => ({ type }))

/** The schema of conditions in bodies and answers. */
export const condition_item = {
  type: 'object',
  properties: {
    field: {
      type: 'string',
      minLength: 1,
      maxLength: max_field,
      description: 'A path in the payload, such as `data.value`, `previous.stage` or `changed_fields`.',
    },
    op: { type: 'string', enum: operators },
    value: {
      // valueProblem judges the value. The document says which types there are.
      'x-types': {
        anyOf: [...scalar_types, { type: 'array', items: { anyOf: scalar_types } }, { type: 'null' }],
      },
      description:
        'A text, a number, true, false or null; a list of up to 100 for `in` and `not_in`; true or false for `exists`.',
    },
  },
  required: ['field', 'op', 'value'],
  additionalProperties: false,
}

export const conditions_schema = {
  type: ['array', 'null'],
  maxItems: max_conditions,
  items: condition_item,
  // Texts are compared as they are.
  verbatim: true,
  description:
    'All must hold, or the webhook does not get the event. They are judged in the transaction of the change.',
  examples: [[{ field: 'source', op: 'ne', value: 'import' }]],
  'x-extension': true,
}

/** The stored text of conditions; null for none. */
export const conditionsText = (conditions: readonly Condition[] | null): string | null =>
  conditions?.length ? JSON.stringify(conditions.map(({ field, op, value }) => ({ field, op, value }))) : null

// Not `sequence`: the database assigns it after the conditions are evaluated.
const plain_fields = [
  'event',
  'timestamp',
  'source',
  'api_version',
  'actor.kind',
  'actor.id',
  'actor.name',
  'changed_fields',
  'merged_from_ids',
  'merged_into_id',
]

/** The problems of conditions beyond their schema, for a webhook with these events. */
export function conditionProblems(
  conditions: readonly Condition[] | null | undefined,
  events: readonly string[],
  catalogue: readonly EventDefinition[],
): FieldProblem[] {
  if (!Array.isArray(conditions)) return []
  const of_events = Array.isArray(events) ? catalogue.filter(({ name }) => isSubscribed(events, name)) : []
  // The schema reports a list without a known event.
  if (!of_events.length) return []
  const problems = conditions
    .slice(0, max_conditions)
    .flatMap((condition, index) => problemsOf(condition, `conditions.${index}`, of_events))
  if (JSON.stringify(conditions).length > max_bytes)
    problems.push({
      field: 'conditions',
      code: 'too_long',
      message: `conditions must have at most ${max_bytes} characters together.`,
    })
  return problems
}

function problemsOf(condition: Condition, name: string, events: readonly EventDefinition[]): FieldProblem[] {
  const { field, op, value } = condition ?? {}
  // The schema reports these.
  if (typeof field !== 'string' || !field || !operators.includes(op) || value === undefined) return []
  const field_problem = fieldProblem(field, events)
  const value_problem = valueProblem(op, value)
  const problems: FieldProblem[] = []
  if (field_problem) problems.push({ field: `${name}.field`, code: 'unknown_field', message: field_problem })
  if (value_problem)
    problems.push({
      field: `${name}.value`,
      code: 'invalid_value',
      message: `${name}.value ${value_problem}.`,
    })
  return problems
}

type Schema = { properties?: Record<string, Schema>; additionalProperties?: unknown }

/** Whether a value of this schema may have something at a path. */
function has(schema: Schema, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  const { properties = {}, additionalProperties } = schema
  if (Object.hasOwn(properties, name)) return has(properties[name] as Schema, rest)
  return additionalProperties === true && name !== '' && !rest.length
}

function fieldProblem(field: string, events: readonly EventDefinition[]): string | null {
  const [root, ...path] = pathOf(field)
  const of_data = root === 'data' || root === 'previous'
  const possible =
    plain_fields.includes(field) ||
    (of_data && path.length > 0 && events.some(({ data }) => has(data as Schema, path)))
  if (possible) return null
  const names = [...new Set(events.flatMap(({ fields }) => fields))]
  const all = [...plain_fields, ...names.map((one) => `data.${one}`)]
  const nearest = nearestName(field, all)
  return [
    `"${field}" is not a field of the events of this webhook.`,
    nearest && `Did you mean "${nearest}"?`,
    `Possible: ${all.join(', ')}, data.custom_fields.KEY, and previous with the names of data.`,
  ]
    .filter(Boolean)
    .join(' ')
}

const isScalar = (value: unknown) =>
  scalars.includes(typeof value) && !(typeof value === 'string' && value.length > max_text)

function valueProblem(op: Condition['op'], value: unknown): string | null {
  const scalar = `a number, true, false or a text of at most ${max_text} characters`
  if (op === 'exists') return typeof value === 'boolean' ? null : 'must be true or false for exists'
  if (op === 'in' || op === 'not_in') {
    const is_list = Array.isArray(value) && value.length > 0 && value.length <= max_values
    return is_list && value.every(isScalar) ? null : `must be a list of 1 to ${max_values} values: ${scalar}`
  }
  if (op === 'contains') return isScalar(value) ? null : `must be ${scalar}`
  if (op === 'eq' || op === 'ne') return value === null || isScalar(value) ? null : `must be null, ${scalar}`
  return compare(value, value) === null
    ? `must be a number, a day (2026-11-21) or a time (2026-11-21T08:30:00Z) for ${op}`
    : null
}
