import type { Condition, FilterField, Part } from './filter-value.ts'
import { readRelative } from './relative-days.ts'

/** The choices of a person in the editor of a filter. */
export const filter_ops = ['is', 'not', 'from', 'to', 'between', 'relative', 'empty', 'filled'] as const
export type FilterOp = (typeof filter_ops)[number]

/** A filter that is being edited. It keeps the values of other operators. */
export type Draft = {
  op: FilterOp
  values: readonly (string | null)[]
  /** Values that must not be, beside those of `is`. Only addresses that somebody wrote have them. */
  others: readonly Part[]
  /** A word such as `this_month`. */
  word: string
  from: string | null
  to: string | null
}

/** The operators of a field. */
export function opsOf({ kind = 'text', ends, nullable, single, relative }: FilterField): FilterOp[] {
  if (single && !ends) return ['is']
  const ranged: FilterOp[] = ends && kind !== 'text' ? ['between', 'from', 'to'] : []
  // Nobody filters by an exact millisecond.
  const equal: FilterOp[] = kind === 'time' || kind === 'moment' ? [] : ['is', 'not']
  return [
    ...ranged,
    ...(relative ? (['relative'] as const) : []),
    ...equal,
    ...(nullable ? (['empty', 'filled'] as const) : []),
  ]
}

/** The operator of a condition. */
export function opOf(condition: Condition, { relative }: Pick<FilterField, 'relative'>): FilterOp {
  if (!('parts' in condition)) {
    const { from, to } = condition
    return from === null ? 'to' : to === null ? 'from' : 'between'
  }
  const { parts } = condition
  const negative = parts.every(({ not }) => not)
  if (parts.length === 1 && parts[0]?.value === null) return negative ? 'filled' : 'empty'
  if (relative && parts.length === 1 && !negative && readRelative(parts[0]?.value ?? '')) return 'relative'
  return negative ? 'not' : 'is'
}

/** The draft of a condition, or of a new one. */
export function draftOf(field: FilterField, condition: Condition | null): Draft {
  const draft: Draft = {
    op: opsOf(field)[0] ?? 'is',
    values: [],
    others: [],
    word: 'this_month',
    from: null,
    to: null,
  }
  if (!condition) return draft
  const op = opOf(condition, field)
  if (!('parts' in condition)) return { ...draft, ...condition, op }
  if (op === 'empty' || op === 'filled') return { ...draft, op }
  const { parts } = condition
  if (op === 'relative') return { ...draft, op, word: parts[0]?.value ?? draft.word }
  const values = parts.filter(({ not }) => not === (op === 'not')).map(({ value }) => value)
  return { ...draft, op, values, others: op === 'is' ? parts.filter(({ not }) => not) : [] }
}

/** The condition of a draft; null while it has no value. */
export function conditionOf({ op, values, others, word, from, to }: Draft): Condition | null {
  if (op === 'empty' || op === 'filled') return { parts: [{ not: op === 'filled', value: null }] }
  if (op === 'relative') return { parts: [{ not: false, value: word }] }
  if (op === 'is' || op === 'not') {
    const parts = [...values.map((value) => ({ not: op === 'not', value })), ...others]
    return parts.length ? { parts } : null
  }
  const range = { from: op === 'to' ? null : from, to: op === 'from' ? null : to }
  return range.from === null && range.to === null ? null : range
}

/** The draft with another operator. */
export const withOp = (draft: Draft, op: FilterOp): Draft =>
  op === 'not'
    ? { ...draft, op, values: [...draft.values, ...draft.others.map(({ value }) => value)], others: [] }
    : { ...draft, op }
