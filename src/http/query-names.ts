import { type ApiError, badRequest } from '../errors.ts'
import type { Schema } from './schema-problems.ts'

/** The maximum number of query parameters (contract: keys, limits, safety). */
const max_parameters = 50

/** Refuses a query with too many parameters, before each parameter is checked. */
export function refuseManyParameters(url: string): void {
  let at = url.indexOf('?')
  if (at < 0) return
  for (let count = 1; count <= max_parameters; count++) {
    at = url.indexOf('&', at + 1)
    if (at < 0) return
  }
  throw badRequest(`The query has more than ${max_parameters} parameters.`)
}

/** The valid names of query parameters: those of the schema, and patterns such as custom_fields[region]. */
export function parameterNames({ properties = {}, patternProperties = {}, additionalProperties }: Schema) {
  const sources = Object.keys(patternProperties)
  const patterns = sources.map((source) => new RegExp(source, 'u'))
  // ^custom_fields\[(.{1,64})\]$ is shown as custom_fields[key].
  const shown = sources.map((source) => source.replaceAll(/[\^$\\]/g, '').replace(/\(.*\)/, 'key'))
  return {
    names: [...Object.keys(properties), ...shown],
    has: (name: string): boolean =>
      additionalProperties !== false ||
      Object.hasOwn(properties, name) ||
      patterns.some((pattern) => pattern.test(name)),
  }
}

type Names = Pick<ReturnType<typeof parameterNames>, 'names' | 'has'>

/** 400 for an unknown parameter. It suggests the name that was probably meant, and lists all names. */
export function unknownParameter(name: string, { names, has }: Names): ApiError {
  const shown = name.slice(0, 100).toWellFormed().replaceAll('\0', '')
  const nearest = filterMeant(shown, has) ?? nearestName(shown, names, 3)
  const sentences = [
    `"${shown}" is not a parameter of this path.`,
    nearest && `Did you mean "${nearest}"?`,
    names.length ? `Its parameters are ${names.join(', ')}.` : 'It has none.',
  ]
  return badRequest(sentences.filter(Boolean).join(' '))
}

// How other APIs name the operators of a filter, and the ends of names here.
const ends: Record<string, readonly string[]> = {
  _from: ['gte', 'gt', 'ge', 'min', 'from', 'after', 'since'],
  _to: ['lte', 'lt', 'le', 'max', 'to', 'before', 'until'],
  '': ['', 'eq', 'in', 'is', 'ne', 'neq', 'nin', 'not', 'not_in', 'contains', 'like', 'ilike', 'exact'],
}
const end_of = new Map(Object.entries(ends).flatMap(([end, names]) => names.map((name) => [name, end])))
const operator_names = [...end_of.keys()].filter(Boolean).join('|')
// stage[in], stage[], stage__in, stage.in, stage:in, stage_in
const with_operator = new RegExp(`^(.+?)(?:\\[(${operator_names}|)\\]|(?:__?|[.:])(${operator_names}))$`, 'i')

/** The key in the name of a filter by a custom field. Its end is not a comparison of another API, such as seats__gte. */
export const custom_key = `((?!.*(?:\\]\\[|(?:__|[.:])[gl]te?\\])).{1,64})`

const operator_at_end = new RegExp(`^(.+?)(__|[_.: -]\\$?)(${operator_names})$`, 'is')

/**
 * The error of a filter such as custom_fields[seats__in], or custom_fields[seats_gte] if `seats` is defined; null for other
 * keys. `readDefined` reads the keys that are defined.
 */
export async function operatorInKey(
  key: string,
  readDefined: () => Promise<ReadonlySet<string>>,
): Promise<ApiError | null> {
  const [, base = '', separator, operator = ''] = operator_at_end.exec(key) ?? []
  if (!base) return null
  const defined = await readDefined()
  const end = end_of.get(operator.toLowerCase()) ?? ''
  // Without a definition, a key such as valid_from is a plain one.
  const is_operator = defined.has(base) || (separator === '__' && end === '')
  if (!is_operator || defined.has(key)) return null
  const values = ' It takes several values with commas between them, and ! before a value means "not".'
  return badRequest(
    `"custom_fields[${key}]" ends with the operator ${operator}, and no field of this key is defined. Did you mean "custom_fields[${base}]${end}"?${end ? '' : values}`,
  )
}

/** The filter that a name of another API means, such as value_from for value[gte] and filter[value][gte]. */
function filterMeant(name: string, has: Names['has']): string | undefined {
  const own = name
    .replace(/^(?:filters?|where)(?:\[([^\]]+)\]|\.(?=.))/, '$1')
    // custom_fields[seats__gte], custom_fields.seats
    .replace(/^(custom_fields\[[^\]]+?)(__|[.:])([a-z_]+)\]$/, '$1]$2$3')
    .replace(/^custom_fields\.(.+?)((?:__|[.:])[a-z_]+|\[.*)?$/, 'custom_fields[$1]$2')
    .replace(/^(custom_fields\[[^\]]+\])(?=[a-z])/, '$1_')
  const [, base = own, in_brackets = '', behind = in_brackets] = with_operator.exec(own) ?? []
  const end = end_of.get(behind.toLowerCase()) ?? ''
  return [base + end, base, own].find((one) => one !== name && has(one))
}

/** The name that was probably meant: at most one letter in `share` of its letters differs. */
export function nearestName(name: string, names: readonly string[], share = 5): string | undefined {
  const near = names.filter((known) => distance(name, known) <= Math.max(1, known.length / share))
  return near.sort((a, b) => distance(name, a) - distance(name, b))[0]
}

/** The edits between two texts, without case: letters that are changed, added, left out or swapped with the next one. */
function distance(a: string, b: string): number {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()]
  const rows = [Array.from({ length: other.length + 1 }, (_, n) => n)]
  const at = (i: number, n: number) => rows[i]?.[n] as number
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    rows.push(row)
    for (let n = 1; n <= other.length; n++) {
      const changed = at(i - 1, n - 1) + (one[i - 1] === other[n - 1] ? 0 : 1)
      const is_swap = i > 1 && n > 1 && one[i - 1] === other[n - 2] && one[i - 2] === other[n - 1]
      const swapped = is_swap ? at(i - 2, n - 2) + 1 : changed
      row.push(Math.min(changed, swapped, at(i - 1, n) + 1, at(i, n - 1) + 1))
    }
  }
  return at(one.length, other.length)
}
