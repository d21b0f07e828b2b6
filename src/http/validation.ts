import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { ApiError, type FieldProblem, invalid, max_problems, notFound } from '../errors.ts'
import { filterProblems } from './filter-values.ts'
import { parameterNames, unknownParameter } from './query-names.ts'
import { type Schema, schemaProblems } from './schema-problems.ts'
import { type Body, textProblems, tidyTexts } from './texts.ts'

const problems_of_bodies = new WeakMap<object, readonly FieldProblem[]>()

/** The problems of a body by its schema. The writer reports them together with invalid references. */
export const bodyProblems = (body: unknown): readonly FieldProblem[] =>
  problems_of_bodies.get(body as object) ?? []

/** Normalises the texts of a body, then records every failing field, so that one 422 can report all of them. */
export function bodyValidator(schema: Schema) {
  const { required = [] } = schema
  const times = namesOfTimes(schema)
  const properties = Object.entries((schema.properties ?? {}) as Record<string, { minLength?: number }>)
  const needed = new Set([
    ...required,
    ...properties.filter(([, { minLength }]) => minLength).map(([name]) => name),
  ])
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
    tidyTexts(value, properties)
    const problems = schemaProblems(schema, value)
    const refused = new Set(problems.map(({ field }) => field))
    problems.push(
      ...normaliseTimes(
        value,
        times.filter((name) => !refused.has(name)),
      ),
    )
    // A required field that is null or blank is missing.
    const all = [...unsafe, ...problems].map(
      (problem): FieldProblem =>
        needed.has(problem.field) && value[problem.field] === null
          ? { ...problem, code: 'required', message: `${problem.field} is required.` }
          : problem,
    )
    if (!all.length) return { value }
    const reduced = withoutExcess(value, all, properties)
    problems_of_bodies.set(reduced, all)
    return { value: reduced }
  }
}

// The body is already invalid. Remove values that are far too long, so that later rules do not walk them.
function withoutExcess(
  value: Body,
  problems: readonly FieldProblem[],
  properties: [name: string, unknown][],
) {
  for (const { field, code } of problems) {
    const [name = ''] = field.split('.')
    if (code === 'too_many' && Object.hasOwn(value, name)) value[name] = Array.isArray(value[name]) ? [] : {}
  }
  if (problems.length < max_problems) return value
  const known = properties.filter(([name]) => Object.hasOwn(value, name))
  return Object.fromEntries(known.map(([name]) => [name, value[name]]))
}

const namesOfIntegers = ({ properties = {} }: Schema) =>
  Object.keys(properties).filter((name) => properties[name]?.type === 'integer')

const no_names = { names: [], has: () => false }

/** Refuses query parameters on paths that have none, so that a typo is reported. */
export function refuseUnknownQuery(request: FastifyRequest, _: FastifyReply, done: () => void) {
  const [name] = Object.keys(request.query as object)
  if (name === undefined) return done()
  const { schema, url = '' } = request.routeOptions
  // Open paths outside of the API ignore parameters of browsers and probes.
  if (url.startsWith('/api/v1') && !schema?.querystring) throw unknownParameter(name, no_names)
  done()
}

/** Parses query parameters. An unknown parameter is 400, an invalid value 422. */
function queryValidator(schema: Schema) {
  const integers = namesOfIntegers(schema)
  const times = namesOfTimes(schema)
  const takes = parameterNames(schema)
  return (query: unknown) => {
    const values = query as Record<string, unknown>
    for (const name of integers)
      if (/^-?\d+$/.test(String(values[name])))
        values[name] = Math.min(Number(values[name]), Number.MAX_VALUE)
    const odd = Object.keys(values).find((name) => !takes.has(name) || textProblems(name).length)
    if (odd !== undefined) return { error: unknownParameter(odd, takes) }
    const unsafe = textProblems(values)
    if (unsafe.length) return { error: invalid(unsafe) }
    const wrong = [...schemaProblems(schema, values), ...filterProblems(schema.properties ?? {}, values)]
    if (!wrong.length) wrong.push(...normaliseTimes(values, times))
    return wrong.length ? { error: invalid(wrong) } : { value: query }
  }
}

/** Checks ids in paths: a positive safe integer in decimal digits, or a text. Any other id is 404. */
function paramsValidator(schema: Schema) {
  const integers = namesOfIntegers(schema)
  return (params: unknown) => {
    const values = params as Record<string, unknown>
    // PostgreSQL refuses some texts as parameters.
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

const namesOfTimes = ({ properties = {} }: Schema) =>
  Object.keys(properties).filter((name) => properties[name]?.format === 'date-time')

// Converts times to UTC with milliseconds: these texts sort by time. Times outside of the years 1 to 9999 have no such
// text.
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

/** The validator compiler for Fastify, with a validator for each part of a request. createServer installs it. */
export function validatorCompiler({ schema, httpPart }: RouteSchema) {
  if (httpPart === 'body') return bodyValidator(schema as Schema)
  if (httpPart === 'querystring') return queryValidator(schema as Schema)
  if (httpPart === 'params') return paramsValidator(schema as Schema)
  throw new ApiError('internal_error', `There are no rules for ${httpPart}.`)
}
