import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { max_email_characters } from './formats.ts'
import { all_seen } from './texts.ts'

// Building blocks of the resources' schemas. A nullable field is a list of types, not a union: validator, serializer
// and OpenAPI all support a list better.

type Options = Record<string, unknown>

const nullable = <T>(schema: Options, options: Options = {}) =>
  Type.Unsafe<T | null>({ ...schema, type: [schema.type, 'null'], ...options })

/** A text or null, in answers. */
export const TextOrNull = (options: Options = {}) => nullable<string>({ type: 'string' }, options)
/** A text that may be absent. */
export const MaybeText = (options: Options = {}) => Type.Optional(Type.String(options))
/** An integer or null, in answers. */
export const IntegerOrNull = (options: Options = {}) => nullable<number>({ type: 'integer' }, options)
/** A required text: trimmed, 1 to `max` characters. */
export const Text = (max: number, options: Options = {}) =>
  Type.String({ minLength: 1, maxLength: max, ...options })
/** An optional text: trimmed; "" is taken as null. */
export const OptionalText = (max = 255, options: Options = {}) =>
  nullable<string>({ type: 'string', maxLength: max }, options)
export const Email = (options: Options = {}) =>
  nullable<string>(
    { type: 'string', format: 'email_address', maxLength: max_email_characters, [all_seen]: true },
    options,
  )
/** A telephone number. */
export const Phone = (options: Options = {}) => OptionalText(64, { ...options, [all_seen]: true })
/** A calendar day, YYYY-MM-DD. */
export const Day = (options: Options = {}) => nullable<string>({ type: 'string', format: 'day' }, options)
export const Id = (options: Options = {}) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...options })
export const OptionalId = (options: Options = {}) =>
  nullable<number>({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, options)
export const OptionalInteger = (minimum: number, maximum: number, options: Options = {}) =>
  nullable<number>({ type: 'integer', minimum, maximum }, options)
export const OptionalNumber = (minimum: number, maximum: number, options: Options = {}) =>
  nullable<number>({ type: 'number', minimum, maximum }, options)
/** ISO 8601 UTC with milliseconds. */
export const Timestamp = (options: Options = {}) =>
  Type.String({ format: 'date-time', examples: ['2026-11-21T08:30:00.000Z'], ...options })
export const OptionalTimestamp = (options: Options = {}) =>
  nullable<string>({ type: 'string', format: 'date-time' }, options)

export type CustomFields = Record<string, string | number | boolean | null>
/** Key/value map in answers; keys are kept as sent. */
export const CustomFields = (options: Options = {}) =>
  Type.Unsafe<CustomFields>({
    type: 'object',
    // The serializer writes any value as it is. The document says which values there are.
    additionalProperties: true,
    'x-values': { type: ['string', 'number', 'boolean', 'null'] },
    ...options,
  })
/** Key/value map in bodies: merged key by key; null removes a key (contract: reading and writing). */
export const CustomFieldsInput = () =>
  Type.Unsafe<CustomFields | null>({
    type: ['object', 'null'],
    maxProperties: 100,
    propertyNames: { minLength: 1, maxLength: 64 },
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: 4096 },
    examples: [{ region: 'EMEA' }],
  })
export const Tags = (options: Options = {}) => Type.Array(Type.String(), options)
export const TagsInput = () =>
  Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    maxItems: 50,
    items: { type: 'string', minLength: 1, maxLength: 64 },
    examples: [['partner']],
  })

/** An object with a name in the document. */
export const Titled = <T extends TProperties>(title: string, properties: T, options: Options = {}) =>
  Type.Object(properties, { title, ...options })
/** An object without other properties. */
export const Exact = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })

export const nullableObject = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: ['object', 'null'] })

/** A field that a list leaves out where it is long; an absent field is unchanged by a PUT. */
export const Listed = <T extends TSchema>(field: T, limit = '8 KiB') =>
  Type.Optional({
    ...field,
    description: `Left out if it has more than ${limit}. Read the record to get it.`,
  } as T)

/** A body of which nothing else is taken: `fields` may be sent, `read_only` ones are accepted and ignored. */
export function Body<T extends Record<string, TSchema>>(
  fields: T,
  read_only: string[] = [],
  required: string[] = [],
) {
  const ignored = read_only.filter((name) => !(name in fields))
  return Type.Unsafe<{ [K in keyof T]?: Static<T[K]> }>({
    type: 'object',
    properties: {
      ...fields,
      ...Object.fromEntries(
        ignored.map((name) => [name, { readOnly: true, description: 'Accepted and ignored.' }]),
      ),
    },
    required,
    additionalProperties: false,
  })
}

/** A parameter that is true or false. */
export const flag = (description: string) =>
  Type.Optional(Type.Unsafe<'true' | 'false'>({ type: 'string', enum: ['true', 'false'], description }))
/** A parameter that is a time; it arrives as UTC with milliseconds. */
export const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

/** Query of every list; `filters` are added to the paging. Unknown parameters are refused. */
export const ListQuery = <T extends Record<string, TSchema>>(filters: T, options: object = {}) =>
  Type.Object(
    {
      page: Type.Integer({ minimum: 1, default: 1, description: 'The number of the page.' }),
      per_page: Type.Integer({ minimum: 1, default: 25, description: 'A value above 100 counts as 100.' }),
      ...filters,
    },
    { additionalProperties: false, ...options },
  )

/** The cursor of a list that comes all at once, unless it is too long for one answer. */
export const rest_cursor = Type.Optional(
  Type.String({
    maxLength: 2000,
    description: 'The `next_cursor` of an answer that was too long for all records. `start`: begin.',
  }),
)

/** The body of an operation that takes none: absent or {}. */
export const NoFields = Type.Object({}, { additionalProperties: false, title: 'NoFields' })

export const IdParams = Type.Object({ id: Id() })
