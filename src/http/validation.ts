import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { ApiError, badRequest, type FieldProblem, invalid, notFound } from './errors.ts'
import { type Body, textProblems, tidyTexts } from './texts.ts'

// Nothing is coerced: Fastify's default would turn {"company_id": null} into 0.
const ajv = addFormats.default(
  new Ajv({
    allErrors: true,
    strict: false,
    // 1e400 is no number that JSON could give back.
    strictNumbers: true,
    useDefaults: true,
    removeAdditional: false,
    coerceTypes: false,
  }),
)

// Deliberately looser than RFC 5322: one @, something on both sides, no blanks; mail servers judge the rest.
const email = /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/u
const isDay = (text: string) => {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (!year || year === '0000') return false
  const date = new Date(`${text}T00:00:00.000Z`)
  return (
    !Number.isNaN(date.getTime()) &&
    date.getUTCDate() === Number(day) &&
    date.getUTCMonth() + 1 === Number(month)
  )
}
// RFC 3339 as Date reads it: ajv's own format lets through what has no time value, such as a leap second.
const instant =
  /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i
ajv.addFormat('date-time', (text: string) => instant.test(text) && isDay(text.slice(0, 10)))
/** Whether a text has the form of an e-mail address; how long it may be is another question. */
export const isEmail = (text: string): boolean => email.test(text) && !/\.\.|^\.|\.@|@\.|\.$|@-/.test(text)
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

/** One Ajv error as the contract's field problem. */
function problemOf(error: ErrorObject): FieldProblem {
  const { keyword, params } = error
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') path.push(params.missingProperty)
  if (keyword === 'additionalProperties') path.push(params.additionalProperty)
  if (error.propertyName !== undefined) path.push(error.propertyName)
  const field = path.join('.') || 'body'
  const problem = (code: string, text: string) => ({ field, code, message: `${field} ${text}.` })
  const schema = error.parentSchema as { minimum?: number; maximum?: number } | undefined
  switch (keyword) {
    case 'required':
      return problem('required', 'is required')
    case 'additionalProperties':
      return problem('unknown_field', 'is not a field of this resource')
    case 'type':
      return problem('invalid_type', `must be ${types(params.type)}`)
    case 'minLength':
      return error.propertyName === undefined
        ? problem('required', 'must not be blank')
        : problem('too_short', 'must have a name')
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
      return problem(
        'out_of_range',
        schema?.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER
          ? `must be from ${schema.minimum} to ${schema.maximum}`
          : `must be ${params.comparison} ${params.limit}`,
      )
    case 'pattern':
      return problem('invalid_format', `must match ${params.pattern}`)
    case 'format':
      return problem('invalid_format', `must be a valid ${String(params.format).replaceAll(/[_-]/g, ' ')}`)
    default:
      return problem('invalid', error.message ?? 'is not valid')
  }
}

function problemsOf(errors: ErrorObject[]): FieldProblem[] {
  // A bad property name is reported twice: by its rule and by the rule of all names.
  return errors.filter((error) => error.keyword !== 'propertyNames').map(problemOf)
}

/** What is wrong with a value. Compiled when it is first asked: a start does not wait for the rules of all operations. */
function checker(schema: object): (value: unknown) => ErrorObject[] {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= ajv.compile(schema)
    return validate(value) ? [] : (validate.errors as ErrorObject[])
  }
}

const problems_of_bodies = new WeakMap<object, readonly FieldProblem[]>()

/** What the schema found wrong with a body. The writer refuses it, together with what the database knows (references). */
export const bodyProblems = (body: unknown): readonly FieldProblem[] =>
  problems_of_bodies.get(body as object) ?? []

/** Bodies: texts tidied, then every failing field noted, so that one 422 can tell them and the bad references together. */
function bodyValidator(schema: Record<string, unknown>) {
  const errorsOf = checker(schema)
  const required = (schema.required ?? []) as string[]
  const times = namesOfTimes(schema)
  const texts = Object.entries(
    (schema.properties ?? {}) as Record<string, { type?: unknown; minLength?: number }>,
  )
  return (body: unknown) => {
    if (typeof (body ?? {}) !== 'object' || Array.isArray(body)) {
      const value = {}
      problems_of_bodies.set(value, [
        { field: 'body', code: 'invalid_type', message: 'The body must be an object.' },
      ])
      return { value }
    }
    const value = (body ?? {}) as Body
    const unsafe = textProblems(value)
    tidyTexts(value, texts)
    // A required field that is null or blank is missing.
    const problems = problemsOf(errorsOf(value))
    const refused = new Set(problems.map(({ field }) => field))
    problems.push(
      ...normaliseTimes(
        value,
        times.filter((name) => !refused.has(name)),
      ),
    )
    const all = [...unsafe, ...problems].map((problem) => {
      const needed =
        required.includes(problem.field) ||
        texts.some(([name, { minLength }]) => name === problem.field && minLength)
      return needed && (value as Record<string, unknown>)[problem.field] === null
        ? { ...problem, code: 'required', message: `${problem.field} is required.` }
        : problem
    })
    if (all.length) problems_of_bodies.set(value, all)
    return { value }
  }
}

type Properties = { properties?: Record<string, { type?: unknown }> }
const namesOfIntegers = ({ properties = {} }: Properties) =>
  Object.keys(properties).filter((name) => properties[name]?.type === 'integer')

const unknownParameter = (name: string) => badRequest(`"${name}" is no parameter of this path.`)

/** Paths without parameters take none: a typo must not vanish. */
export function refuseUnknownQuery(request: FastifyRequest, _: FastifyReply, done: () => void) {
  const [name] = Object.keys(request.query as object)
  if (name === undefined) return done()
  const { config, schema, url = '' } = request.routeOptions
  // The open paths outside the API answer whatever a browser or a probe adds.
  if ((config.scope || url.startsWith('/api/v1/')) && !schema?.querystring) throw unknownParameter(name)
  done()
}

/** Query parameters are texts and are parsed: an unknown one is 400, a bad value 422. */
function queryValidator(schema: Properties) {
  const errorsOf = checker(schema)
  const integers = namesOfIntegers(schema)
  const times = namesOfTimes(schema)
  return (query: unknown) => {
    const values = query as Record<string, unknown>
    for (const name of integers)
      if (/^-?\d+$/.test(String(values[name])))
        values[name] = Math.min(Number(values[name]), Number.MAX_VALUE)
    const [odd] = Object.keys(values).filter((name) => textProblems({ [name]: '' }).length)
    if (odd !== undefined) return { error: unknownParameter(odd.toWellFormed().replaceAll('\0', '')) }
    const errors = errorsOf(query)
    const unknown = errors.find((error) => error.keyword === 'additionalProperties')
    if (unknown) return { error: unknownParameter(unknown.params.additionalProperty) }
    const unsafe = textProblems(query as Body)
    if (unsafe.length) return { error: invalid(unsafe) }
    if (!errors.length) {
      const wrong = normaliseTimes(values, times)
      return wrong.length ? { error: invalid(wrong) } : { value: query }
    }
    return { error: invalid(problemsOf(errors)) }
  }
}

/** Ids in paths: a positive safe integer in decimal digits, or a text; anything else names nothing. */
function paramsValidator(schema: Properties) {
  const integers = namesOfIntegers(schema)
  return (params: unknown) => {
    const values = params as Record<string, unknown>
    // A database cannot even be asked for some texts.
    if (textProblems(params as Body).length) return { error: notFound('This record') }
    for (const name of integers) {
      const text = String(values[name])
      const value = Number(text)
      if (!/^[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(value))
        return { error: notFound('This record') }
      values[name] = value
    }
    return { value: values }
  }
}

type Timed = { properties?: Record<string, { type?: unknown; format?: string }> }
const namesOfTimes = ({ properties = {} }: Timed) =>
  Object.keys(properties).filter((name) => properties[name]?.format === 'date-time')

// Times get one form, UTC with milliseconds, in which the order of texts is that of time. Some at the ends of the calendar
// have none.
function normaliseTimes(values: Record<string, unknown>, names: string[]): FieldProblem[] {
  return names.flatMap((field) => {
    const value = values[field]
    if (typeof value !== 'string') return []
    const text = new Date(value).toISOString()
    values[field] = text
    if (/^\d/.test(text) && !text.startsWith('0000')) return []
    return [{ field, code: 'out_of_range', message: `${field} must be in the years 1 to 9999, in UTC.` }]
  })
}

type RouteSchema = { schema: FastifySchema; httpPart?: string }

/** Fastify's validator compiler: one rule for each part of a request, installed once by buildApp. */
export function validatorCompiler({ schema, httpPart }: RouteSchema) {
  if (httpPart === 'body') return bodyValidator(schema as Record<string, unknown>)
  if (httpPart === 'querystring') return queryValidator(schema as Properties)
  if (httpPart === 'params') return paramsValidator(schema as Record<string, never>)
  throw new ApiError('internal_error', `There are no rules for ${httpPart}.`)
}
