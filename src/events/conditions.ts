/** The operators of conditions. */
export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'contains', 'exists'] as const

/** A condition of a webhook on the payload of an event. `field` is a path, such as `data.custom_fields.region`. */
export type Condition = { field: string; op: (typeof operators)[number]; value: unknown }

/** The parts of a path. The key of a custom field may contain dots. */
export function pathOf(field: string): string[] {
  const [, parent, key] = /^((?:data|previous)\.custom_fields)\.(.+)$/s.exec(field) ?? []
  return parent && key ? [...parent.split('.'), key] : field.split('.')
}

type Parsed = { condition: Condition; path: readonly string[]; holds: (seen: unknown) => boolean }
// Few texts are in use. Parsing them again would cost more than evaluating them.
const parsed = new Map<string, readonly Parsed[]>()
const max_parsed = 1000

function parse(text: string): readonly Parsed[] {
  let conditions = parsed.get(text)
  if (!conditions) {
    conditions = (JSON.parse(text) as Condition[]).map((condition) => ({
      condition,
      path: pathOf(condition.field),
      holds: holdsFor(condition),
    }))
    if (parsed.size >= max_parsed) parsed.clear()
    parsed.set(text, conditions)
  }
  return conditions
}

/** A condition that an event does not meet, and the value that it saw; null for a missing one. */
export type Failed = { condition: Condition; seen: unknown }

/** The first condition that a payload does not meet; null if it meets all. `text` is the stored list. */
export function failedCondition(text: string, payload: object): Failed | null {
  for (const { condition, path, holds } of parse(text)) {
    const seen = valueAt(payload, path)
    if (!holds(seen)) return { condition, seen }
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

function holdsFor({ op, value }: Condition): (seen: unknown) => boolean {
  if (op === 'exists') return (seen) => (seen !== null) === value
  if (op === 'in' || op === 'not_in') {
    const isIn = membership(value as unknown[])
    return op === 'in' ? (seen) => seen !== null && isIn(seen) : (seen) => !isIn(seen)
  }
  const operand = operandOf(value)
  if (op === 'eq') return (seen) => equals(seen, operand)
  if (op === 'ne') return (seen) => !equals(seen, operand)
  if (op === 'contains') return (seen) => contains(seen, operand)
  const isMet = orders[op]
  return (seen) => {
    const order = compareTo(seen, operand)
    return order !== null && isMet(order)
  }
}

const orders = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
}

/** The value of a condition: what it compares as is found out once. */
type Operand = { value: unknown; decimal: number | string | null; time: number | null }
const operandOf = (value: unknown): Operand => ({
  value,
  decimal: isDecimal(value) ? value : null,
  time: timeOf(value),
})

const equals = (seen: unknown, operand: Operand): boolean =>
  seen === operand.value || compareTo(seen, operand) === 0

/** Whether a value equals one of a list. The time does not grow with the list. */
function membership(list: readonly unknown[]): (seen: unknown) => boolean {
  const decimals = list.filter(isDecimal)
  const values = new Set(list)
  const times = new Set(list.map(timeOf))
  const texts = new Set(decimals.flatMap((one) => (typeof one === 'string' ? shortDecimal(one) : [])))
  const numbers = new Set(decimals.filter((one) => typeof one === 'number'))
  const nearest = new Set(decimals.map(Number))
  return (seen) => {
    if (values.has(seen)) return true
    if (isDecimal(seen)) {
      if (typeof seen === 'number') return nearest.has(seen)
      return texts.has(shortDecimal(seen)) || numbers.has(Number(seen))
    }
    const time = timeOf(seen)
    return time !== null && times.has(time)
  }
}

/** The text that equal decimals have in common: without zeros at the end of the fraction. */
function shortDecimal(text: string): string {
  const short = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return short === '-0' ? '0' : short
}

const contains = (seen: unknown, operand: Operand): boolean =>
  Array.isArray(seen)
    ? seen.some((one) => equals(one, operand))
    : typeof seen === 'string' && typeof operand.value === 'string' && seen.includes(operand.value)

/**
 * The order of two values: below 0, 0 or above 0. Numbers and decimals as texts compare by value, and so do days and times.
 * A day is its first moment in UTC. Null: values of other kinds have no order.
 */
export const compare = (a: unknown, b: unknown): number | null => compareTo(a, operandOf(b))

function compareTo(seen: unknown, { decimal, time }: Operand): number | null {
  if (decimal !== null) return isDecimal(seen) ? compareDecimals(seen, decimal) : null
  const moment = time === null ? null : timeOf(seen)
  return moment === null || time === null ? null : moment - time
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
