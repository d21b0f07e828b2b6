import type { FieldProblem } from '../errors.ts'
import { publishedSchema } from '../http/openapi/parts.ts'
import { group_pattern } from './sessions.ts'
import type { Tool } from './tools.ts'

// The arguments of a tool: the fields of its operation, as one object.

type Schema = {
  properties?: Record<string, Record<string, unknown>>
  patternProperties?: object
  required?: readonly string[]
}
type Part = 'params' | 'query' | 'body'
const parts = ['params', 'query', 'body'] as const

type Field = { part: Part; name: string; schema: object; required: boolean }

// The API has a parameter for each key, such as `custom_fields[region]` and `custom_fields[seats]_from`.
const ends_of_custom_filters = { custom_fields: '', custom_fields_from: '_from', custom_fields_to: '_to' }
const isCustomFilter = (name: string): name is keyof typeof ends_of_custom_filters =>
  Object.hasOwn(ends_of_custom_filters, name)
const customFilter = (description: string, example: object) => ({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description,
  examples: [example],
})
const custom_filters = {
  custom_fields: customFilter(
    'Records whose custom fields have these values. A text may be `a,b`, `!a`, `null` or `!null`, as in other filters. `list_custom_fields` has the defined keys.',
    { region: 'EMEA' },
  ),
  custom_fields_from: customFilter('At least these values, of custom fields that are numbers or dates.', {
    seats: 10,
  }),
  custom_fields_to: customFilter('At most these values.', { seats: 50 }),
}

/** The fields of an operation, by the part of the request in which they are sent. */
function fieldsOf({ operation }: Tool): Field[] {
  return parts.flatMap((part) => {
    const { properties = {}, required = [], patternProperties } = (operation[part] ?? {}) as Schema
    const by_key = part === 'query' && patternProperties ? custom_filters : {}
    return Object.entries<Schema & { readOnly?: unknown }>({ ...properties, ...by_key })
      .filter(([, { readOnly }]) => !readOnly)
      .map(([name, schema]) => ({
        part,
        name,
        schema,
        required: (required.includes(name) && !('default' in schema)) || part === 'params',
      }))
  })
}

const dry_run = { type: 'boolean', description: 'true: answers as usual, but changes nothing.' }
const replace_tags = {
  type: 'boolean',
  description: 'true: `tags` replace those of the record. By default they are added to them.',
}
const change_group = {
  type: 'string',
  description:
    'The group of changes to add this one to, as an answer before named it. By default, that of the session.',
}

const of_custom_field = 'custom_fields.'

/** The fields that a change may empty. */
const clearable = (tool: Tool): string[] =>
  tool.method === 'PUT'
    ? fieldsOf(tool).flatMap(({ part, name, schema }) =>
        part === 'body' && name !== 'custom_fields' && isNullable(schema) ? [name] : [],
      )
    : []

const isNullable = ({ type }: { type?: unknown }) => Array.isArray(type) && type.includes('null')

const clear = (names: readonly string[]) => ({
  type: 'array',
  items: { type: 'string' },
  description: `Fields that become null: ${names.map((name) => `\`${name}\``).join(', ')}; a custom field as \`${of_custom_field}KEY\`.`,
  examples: [names.slice(0, 1)],
})

/** Whether a tool changes the tags of a record. */
export const changesTags = (tool: Tool): boolean =>
  tool.method === 'PUT' && fieldsOf(tool).some(({ part, name }) => part === 'body' && name === 'tags')

/** The JSON Schema of the arguments of a tool. `custom_fields` describes the defined ones of the tool's records. */
export function argumentsOf(tool: Tool, custom_fields: string | null): object {
  const fields = fieldsOf(tool)
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, plain(schema)]))
  if (custom_fields && tool.writes && properties.custom_fields)
    properties.custom_fields = { ...properties.custom_fields, description: custom_fields }
  const names = clearable(tool)
  if (names.length) properties.clear = clear(names)
  if (changesTags(tool)) properties.replace_tags = replace_tags
  if (tool.writes) Object.assign(properties, { change_group, dry_run })
  const required = fields.filter((field) => field.required).map(({ name }) => name)
  return { type: 'object', properties, required, additionalProperties: false }
}

const plain = (schema: object) => publishedSchema(withoutNull(schema)) as Record<string, unknown>

// Some models refuse all tools of a server if an argument may be null. An optional argument is left out instead.
function withoutNull(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutNull)
  if (typeof node !== 'object' || node === null) return node
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(node))
    copy[name] = name === 'examples' || name === 'default' ? value : withoutNull(value)
  if (Array.isArray(copy.type)) {
    const types = copy.type.filter((type) => type !== 'null')
    copy.type = types.length === 1 ? types[0] : types
  }
  if (Array.isArray(copy.enum)) copy.enum = copy.enum.filter((value) => value !== null)
  return copy
}

// A URL parser removes `.` and `..`, and the request would reach another operation. No id begins with `~`.
const segment = (value: string) => encodeURIComponent(value).replace(/^\.{1,2}$/, '~$&')

/** The problems of a call that the API cannot find: of the path, and of arguments that only tools have. */
export function problemsIn(tool: Tool, given: Readonly<Record<string, unknown>>): FieldProblem[] {
  const { dry_run, change_group } = given
  const missing = fieldsOf(tool).flatMap(({ part, name }) =>
    part === 'params' && isAbsent(given[name]) ? [problem(name, 'required', 'is required')] : [],
  )
  // Any other value would be a change, which the caller did not want.
  if (!isAbsent(dry_run) && typeof dry_run !== 'boolean')
    missing.push(problem('dry_run', 'invalid_type', 'must be a boolean'))
  if (changesTags(tool) && !isAbsent(given.replace_tags) && typeof given.replace_tags !== 'boolean')
    missing.push(problem('replace_tags', 'invalid_type', 'must be a boolean'))
  if (!isAbsent(change_group) && !group_pattern.test(String(change_group)))
    missing.push(problem('change_group', 'invalid_format', 'must be one that an answer named'))
  for (const [name, value] of Object.entries(given))
    if (isBeyond(value)) missing.push(problem(name, 'invalid_type', 'has a number that is too large'))
  return [...missing, ...problemsOfQuery(tool, given), ...problemsOfClear(tool, given)]
}

/** Whether a value has a number such as 1e400, which would become null. */
const isBeyond = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(isBeyond)
    : typeof value === 'number' && !Number.isFinite(value)

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every((one) => typeof one !== 'object')

/** The arguments of a query that no text can say: the API would look for the text `[object Object]`, and find nothing. */
const problemsOfQuery = (tool: Tool, given: Readonly<Record<string, unknown>>): FieldProblem[] =>
  fieldsOf(tool).flatMap(({ part, name, schema }) => {
    const value = given[name]
    if (part !== 'query' || isAbsent(value)) return []
    if (isCustomFilter(name)) {
      if (!isObject(value)) return [problem(name, 'invalid_type', 'must be an object: keys and their values')]
      return Object.entries(value).flatMap(([key, one]) =>
        typeof one !== 'object' || one === null || isList(one)
          ? []
          : [problem(`${name}.${key}`, 'invalid_type', `must be a value. ${ranges}`)],
      )
    }
    const has_several = 'x-filter' in schema
    if (typeof value !== 'object' || (isList(value) && (has_several || value.length === 1))) return []
    const several = has_several ? ', in which commas separate several values' : ''
    return [problem(name, 'invalid_type', `must be a text${several}`)]
  })
const ranges =
  'Several values are one text with commas; custom_fields_from and custom_fields_to are the ends of a range'

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

const problem = (field: string, code: FieldProblem['code'], text: string): FieldProblem => ({
  field,
  code,
  message: `${field} ${text}.`,
})

function problemsOfClear(tool: Tool, given: Readonly<Record<string, unknown>>): FieldProblem[] {
  const names = clearable(tool)
  const { clear, custom_fields } = given
  if (!names.length || isAbsent(clear)) return []
  if (!isTexts(clear)) return [problem('clear', 'invalid_type', 'must be a list of names of fields')]
  const unknown = clear.filter((name) => !names.includes(name) && !name.startsWith(of_custom_field))
  if (unknown.length) {
    const choices = [...names, `${of_custom_field}KEY`].join(', ')
    return [problem('clear', 'unknown_value', `cannot have ${unknown.join(', ')}. It takes ${choices}`)]
  }
  const set = { ...given, ...namedKeys(custom_fields) }
  const twice = clear.filter((name) => !isAbsent(set[name]))
  if (!twice.length) return []
  return [
    problem('clear', 'not_allowed', `cannot have ${twice.join(', ')}, which the call sets. Send one of them`),
  ]
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const namedKeys = (custom_fields: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(custom_fields ?? {}).map(([key, value]) => [of_custom_field + key, value]),
  )

/** Makes the named fields of a body null. */
function clearIn(body: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names)
    if (!name.startsWith(of_custom_field)) body[name] = null
    // The API refuses any other value.
    else if (isAbsent(body.custom_fields) || isObject(body.custom_fields))
      body.custom_fields = { ...body.custom_fields, [name.slice(of_custom_field.length)]: null }
}

/** The request that a call of a tool makes. */
export function requestOf(tool: Tool, given: Readonly<Record<string, unknown>>) {
  let { path } = tool.operation
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  const known = new Map(fieldsOf(tool).map(({ name, part }) => [name, part]))
  const clears = clearable(tool).length > 0
  const has_body = tool.writes && tool.operation.body !== undefined
  for (const [name, value] of Object.entries(given)) {
    const part = known.get(name)
    if ((name === 'clear' && clears) || (name === 'replace_tags' && changesTags(tool))) continue
    if (part === 'params') path = path.replace(`:${name}`, segment(String(value)))
    // Some programs send null for an argument that is left out.
    else if (part === 'query' && isAbsent(value)) continue
    else if (part === 'query' && isCustomFilter(name) && typeof value === 'object')
      for (const [key, one] of Object.entries(value as object))
        query.set(`custom_fields[${key}]${ends_of_custom_filters[name]}`, String(one))
    else if (part === 'query') query.set(name, String(value))
    // The API refuses what it does not know.
    else if (has_body) body[name] = value
    else query.set(name, String(value))
  }
  if (clears) clearIn(body, (given.clear ?? []) as string[])
  const search = query.toString()
  return { method: tool.method, path: path + (search && `?${search}`), ...(has_body && { body }) }
}
