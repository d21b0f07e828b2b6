import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { type FieldCode, type FieldProblem, max_problems } from '../errors.ts'
import { formats, isDay, isEmail, isInstant } from './formats.ts'
import { fieldName } from './texts.ts'

/** The parts of a JSON schema that this file uses. */
export type Schema = {
  type?: unknown
  format?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  propertyNames?: Schema
  items?: Schema
  required?: string[]
}

// No coercion: Fastify's default would turn {"company_id": null} into 0.
const ajv = addFormats.default(
  new Ajv({
    strict: false,
    // Refuse 1e400: it is Infinity, which JSON cannot represent.
    strictNumbers: true,
    useDefaults: true,
    removeAdditional: false,
    coerceTypes: false,
  }),
)

ajv.addFormat('date-time', isInstant)
ajv.addFormat('email_address', isEmail)
ajv.addFormat('day', isDay)

const words: Record<string, string> = {
  integer: 'an integer',
  array: 'a list',
  object: 'an object',
  null: 'null',
}
const types = (type: string | string[]) =>
  [type]
    .flat()
    .map((name) => words[name] ?? `a ${name}`)
    .join(' or ')

const problemAt = (path: readonly string[], code: FieldCode, text: string): FieldProblem => {
  const field = fieldName(path)
  return { field, code, message: `${field} ${text}.` }
}

/** Maps an error of Ajv about a value, or about a name (`named`), to a field problem. */
function problemOf({ keyword, params, message }: ErrorObject, path: readonly string[], named = false) {
  const problem = (code: FieldCode, text: string) => problemAt(path, code, text)
  switch (keyword) {
    case 'type':
      return problem('invalid_type', `must be ${types(params.type)}`)
    case 'minLength':
      return named ? problem('too_short', 'must have a name') : problem('required', 'must not be blank')
    case 'maxLength':
      return problem('too_long', `must have at most ${params.limit} characters`)
    case 'maxItems':
    case 'maxProperties':
      return problem('too_many', `must have at most ${params.limit} entries`)
    case 'minItems':
      return problem('too_few', `must have at least ${params.limit} entries`)
    case 'enum':
      return problem(
        'unknown_value',
        `must be one of ${params.allowedValues.filter((value: unknown) => value !== null).join(', ')}`,
      )
    case 'minimum':
    case 'maximum':
      return problem('out_of_range', `must be ${params.comparison} ${params.limit}`)
    case 'pattern':
      return problem('invalid_format', `must match ${params.pattern}`)
    case 'format':
      return problem(
        'invalid_format',
        `must be ${formats[params.format as keyof typeof formats] ?? `a valid ${params.format}`}`,
      )
    default:
      return problem('invalid', message ?? 'is not valid')
  }
}

// Compile at the first use: compiling all schemas would slow the start.
function compiling(prepare: (schema: Schema) => Schema) {
  const compiled = new WeakMap<Schema, ValidateFunction>()
  return (schema: Schema, value: unknown): ErrorObject | undefined => {
    let validate = compiled.get(schema)
    if (!validate) {
      validate = ajv.compile(prepare(schema))
      compiled.set(schema, validate)
    }
    return validate(value) ? undefined : validate.errors?.[0]
  }
}
const firstError = compiling((schema) => schema)
/** The error of a value itself: its type, length or format. It does not check its members. */
const ownError = compiling(
  ({ properties, patternProperties, additionalProperties, propertyNames, items, required, ...own }) => own,
)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// Share one object, because each schema object is compiled.
const anything: Schema = {}

/** The schema of a member of an object; false when the name is not allowed. */
function schemaOf(name: string, schema: Schema): Schema | false {
  const { properties = {}, patternProperties = {}, additionalProperties = true } = schema
  if (Object.hasOwn(properties, name)) return properties[name] as Schema
  for (const [pattern, below] of Object.entries(patternProperties))
    if (new RegExp(pattern, 'u').test(name)) return below
  return additionalProperties === true ? anything : additionalProperties
}

/**
 * Yields the problems of a value, so that a caller can stop early. It checks the length of a list or an object first.
 * It skips the members of one that is far too long.
 */
function* problemsIn(schema: Schema, value: unknown, path: readonly string[]): Generator<FieldProblem> {
  const error = ownError(schema, value)
  if (error) yield problemOf(error, path)
  if (typeof value !== 'object' || value === null) return
  if (error && Object.keys(value).length > max_problems) return
  if (!firstError(schema, value)) return
  if (isObject(value)) yield* problemsOfMembers(schema, value, path)
  else if (schema.items)
    for (const [index, item] of (value as unknown[]).entries())
      yield* problemsIn(schema.items, item, [...path, String(index)])
}

function* problemsOfMembers(schema: Schema, value: Record<string, unknown>, path: readonly string[]) {
  const { required = [], properties = {}, propertyNames } = schema
  for (const name of required)
    if (value[name] === undefined) yield problemAt([...path, name], 'required', 'is required')
  const names = Object.keys(value)
  for (const name of names) {
    const error = propertyNames && ownError(propertyNames, name)
    if (error) yield problemOf(error, [...path, name], true)
    if (!schemaOf(name, schema))
      yield problemAt([...path, name], 'unknown_field', 'is not a field of this resource')
  }
  const known = Object.keys(properties).filter((name) => Object.hasOwn(value, name))
  const others = names.filter((name) => !Object.hasOwn(properties, name))
  for (const name of [...known, ...others]) {
    const below = schemaOf(name, schema)
    if (below) yield* problemsIn(below, value[name], [...path, name])
  }
}

/**
 * The problems of a value, at most 1,000. Fills in the defaults of the schema. Most values are valid and need one pass of
 * compiled code.
 */
export function schemaProblems(schema: Schema, value: unknown): FieldProblem[] {
  const error = firstError(schema, value)
  if (!error) return []
  const problems = problemsIn(schema, value, []).take(max_problems).toArray()
  // Refuse the value even if the walk above finds no problem.
  return problems.length ? problems : [problemOf(error, error.instancePath.split('/').slice(1))]
}
