/** The operators of conditions. */
export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'contains', 'exists'] as const

/** A condition of a webhook on the payload of an event. `field` is a path, such as `data.custom_fields.region`. */
export type Condition = { field: string; op: (typeof operators)[number]; value: unknown }

/** The parts of a path. The key of a custom field may contain dots. */
export function pathOf(field: string): string[] {
  const [, parent, key] = /^((?:data|previous)\.custom_fields)\.(.+)$/s.exec(field) ?? []
  return parent && key ? [...parent.split('.'), key] : field.split('.')
}

type Parsed = Condition & { path: readonly string[] }
// Few texts are in use. Parsing them again would cost more than evaluating them.
const parsed = new Map<string, readonly Parsed[]>()
const max_parsed = 1000

function parse(text: string): readonly Parsed[] {
  let conditions = parsed.get(text)
  if (!conditions) {
    conditions = (JSON.parse(text) as Condition[]).map((one) => ({ ...one, path: pathOf(one.field) }))
    if (parsed.size >= max_parsed) parsed.clear()
    parsed.set(text, conditions)
  }
  return conditions
}

/** A condition that an event does not meet, and the value that it saw; null for a missing one. */
export type Failed = { condition: Condition; seen: unknown }

/** The first condition that a payload does not meet; null if it meets all. `text` is the stored list. */
export function failedCondition(text: string, payload: object): Failed | null {
  for (const { path, ...condition } of parse(text)) {
    const seen = valueAt(payload, path)
    if (!holds(condition, seen)) return { condition, seen }
  }
  return null
}

function valueAt(payload: object, path: readonly string[]): unknown {
  let value: unknown = payload
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    if (!Object.hasOwn(value, name)) return null
    value = (value as Record<string, unknown>)[name]
  }
  return value ?? null
}

function holds({ op, value }: Condition, seen: unknown): boolean {
  if (op === 'ne') return !equals(seen, value)
  if (op === 'not_in') return !isOneOf(seen, value)
  if (op === 'exists') return (seen !== null) === value
  if (op === 'eq') return equals(seen, value)
  if (seen === null) return false
  if (op === 'in') return isOneOf(seen, value)
  if (op === 'contains') return contains(seen, value)
  const order = compare(seen, value)
  if (order === null) return false
  if (op === 'gt') return order > 0
  if (op === 'gte') return order >= 0
  return op === 'lt' ? order < 0 : order <= 0
}

const equals = (seen: unknown, value: unknown) => seen === value || compare(seen, value) === 0

const isOneOf = (seen: unknown, values: unknown) => (values as unknown[]).some((value) => equals(seen, value))

const contains = (seen: unknown, value: unknown): boolean =>
  Array.isArray(seen)
    ? seen.some((one) => equals(one, value))
    : typeof seen === 'string' && typeof value === 'string' && seen.includes(value)

/**
 * The order of two values: below 0, 0 or above 0. Numbers and decimals as texts compare by value, and so do days and times.
 * A day is its first moment in UTC. Null: values of other kinds have no order.
 */
export function compare(a: unknown, b: unknown): number | null {
  if (isDecimal(a) && isDecimal(b)) return compareDecimals(a, b)
  const [first, second] = [timeOf(a), timeOf(b)]
  return first === null || second === null ? null : first - second
}

// Not 007 or +49: such texts are numbers of telephones and customers.
const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const max_decimal = 100

const isDecimal = (value: unknown): value is number | string =>
  typeof value === 'number' ||
  (typeof value === 'string' && value.length <= max_decimal && decimal.test(value))

function compareDecimals(a: number | string, b: number | string): number {
  const difference = Number(a) - Number(b)
  // Two long texts may be different and have the same nearest number.
  if (difference || typeof a === 'number' || typeof b === 'number') return difference
  const digits = Math.max(fraction(a).length, fraction(b).length)
  const scaled = (text: string) => BigInt(text.replace(/\..*/, '') + fraction(text).padEnd(digits, '0'))
  const exact = scaled(a) - scaled(b)
  return exact > 0n ? 1 : exact < 0n ? -1 : 0
}

const fraction = (text: string) => text.split('.')[1] ?? ''

const day = /^\d{4}-\d\d-\d\d$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

function timeOf(value: unknown): number | null {
  if (typeof value !== 'string' || !(day.test(value) || instant.test(value))) return null
  const ms = Date.parse(value)
  if (Number.isNaN(ms)) return null
  // Date reads 30 February as a day of March.
  const exists = new Date(`${value.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(value.slice(0, 10))
  return exists ? ms : null
}
