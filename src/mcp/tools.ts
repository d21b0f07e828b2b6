import { publishedSchema } from '../http/openapi/parts.ts'
import type { Operation } from '../http/operation.ts'

/** A tool: an operation of the API, named and described for people and their assistants. */
export type Tool = {
  name: string
  title: string
  description: string
  operation: Operation
  method: string
  /** It changes something: it takes `dry_run` and `change_group`. */
  writes: boolean
  /** It takes something away. */
  destructive: boolean
}

type Named = Pick<Tool, 'name' | 'title' | 'description'> & { destructive?: boolean }

const records = ['contacts', 'companies', 'deals', 'activities', 'appointments'] as const
const one = {
  contacts: 'contact',
  companies: 'company',
  deals: 'deal',
  activities: 'activity',
  appointments: 'appointment',
}
// These have timelines and notes. The names of the first tools for notes do not say the kind.
const note_names: Record<string, string> = { contacts: 'note', companies: 'company_note', deals: 'deal_note' }

// By the operation's method and path below /api/v1.
const tables: Record<string, Named> = {
  'GET /search': {
    name: 'search',
    title: 'Search',
    description: 'Finds contacts, companies, deals and others by words, the best matches first. Begin here.',
  },
  'GET /custom-fields': {
    name: 'list_custom_fields',
    title: 'List custom fields',
    description:
      'The custom fields that this workspace defines: kind of record, key, label, type and options.',
  },
  'POST /deals/:id/change-stage': {
    name: 'change_deal_stage',
    title: 'Move a deal to another stage',
    description: 'Moves a deal to another stage of the pipeline. A lost deal needs `lost_reason`.',
  },
  'POST /activities/:id/complete': {
    name: 'complete_activity',
    title: 'Complete an activity',
    description: 'Marks a call, task or meeting as done, with its outcome.',
  },
  'POST /activities/:id/reopen': {
    name: 'reopen_activity',
    title: 'Reopen an activity',
    description: 'Marks a completed activity as open again.',
  },
  'GET /reports/pipeline': {
    name: 'pipeline_report',
    title: 'Pipeline report',
    description: 'The number and the value of deals in each stage, and the forecast.',
  },
  'GET /reports/activities': {
    name: 'activity_report',
    title: 'Activity report',
    description: 'How many activities were done, by type and time.',
  },
  'GET /audit-log': {
    name: 'list_changes',
    title: 'List changes',
    description:
      'Who changed what and when, the newest first. With `kind` and `record_id`: the history of one record.',
  },
  'POST /audit-log/groups/:group_id/revert': {
    name: 'revert_changes',
    title: 'Revert the changes of a session',
    description: 'Takes back all changes of a `change_group`, except of records that were changed later.',
    destructive: true,
  },
}
for (const kind of records) {
  const noun = one[kind]
  const a = noun.startsWith('a') ? 'an' : 'a'
  Object.assign(tables, {
    [`GET /${kind}`]: {
      name: `find_${kind}`,
      title: `Find ${kind}`,
      description: `Lists ${kind} by filters, with the exact total. Several values by comma, \`!\` before a value for "not", \`null\` for empty.`,
    },
    [`GET /${kind}/:id`]: {
      name: `get_${noun}`,
      title: `Read ${a} ${noun}`,
      description: `All fields of ${a} ${noun}.`,
    },
    [`POST /${kind}`]: {
      name: `create_${noun}`,
      title: `Create ${a} ${noun}`,
      description: `Creates ${a} ${noun}. Search first: it may exist.`,
    },
    [`PUT /${kind}/:id`]: {
      name: `update_${noun}`,
      title: `Change ${a} ${noun}`,
      description: 'Changes the fields that are sent, and no others.',
    },
    [`DELETE /${kind}/:id`]: {
      name: `delete_${noun}`,
      title: `Delete ${a} ${noun}`,
      description: `Moves ${a} ${noun} to the trash. \`restore_${noun}\` brings it back.`,
      destructive: true,
    },
    [`POST /${kind}/:id/restore`]: {
      name: `restore_${noun}`,
      title: `Restore ${a} ${noun}`,
      description: `Brings ${a} ${noun} back from the trash.`,
    },
    ...(note_names[kind] && {
      [`GET /${kind}/:id/notes`]: {
        name: `list_${note_names[kind]}s`,
        title: `List the notes of ${a} ${noun}`,
        description: `The notes of ${a} ${noun}, the newest first.`,
      },
      [`POST /${kind}/:id/notes`]: {
        name: `add_${note_names[kind]}`,
        title: `Add a note to ${a} ${noun}`,
        description: `Adds a note to ${a} ${noun}. Use it to write down what was said or agreed.`,
      },
      [`GET /${kind}/:id/timeline`]: {
        name: `${noun}_timeline`,
        title: `Timeline of ${a} ${noun}`,
        description: `What happened with ${a} ${noun}: notes, activities, appointments and stages, the newest first.`,
      },
    }),
  } satisfies Record<string, Named>)
}

const base = '/api/v1'

/** The tools for the operations of the service. */
export function toolsOf(operations: readonly Operation[]): Tool[] {
  return operations.flatMap((operation) =>
    [operation.method].flat().flatMap((method): Tool[] => {
      const named = tables[`${method} ${operation.path.replace(base, '')}`]
      if (!named) return []
      const writes = method !== 'GET'
      return [{ destructive: false, ...named, operation, method, writes }]
    }),
  )
}

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
        required: required.includes(name) || part === 'params',
      }))
  })
}

const dry_run = { type: 'boolean', description: 'true: answers as usual, but changes nothing.' }
const change_group = {
  type: 'string',
  description:
    'The group of changes to add this one to, as an answer before named it. By default, that of the session.',
}

/** The JSON Schema of the arguments of a tool. `custom_fields` describes the defined ones of the tool's records. */
export function argumentsOf(tool: Tool, custom_fields: string | null): object {
  const fields = fieldsOf(tool)
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, plain(schema)]))
  if (custom_fields && tool.writes && properties.custom_fields)
    properties.custom_fields = { ...properties.custom_fields, description: custom_fields }
  if (tool.writes) Object.assign(properties, { change_group, dry_run })
  const required = fields.filter((field) => field.required).map(({ name }) => name)
  return { type: 'object', properties, required, additionalProperties: false }
}

const plain = (schema: object) => publishedSchema(schema) as Record<string, unknown>

// A URL parser removes `.` and `..`, and the request would reach another operation. No id begins with `~`.
const segment = (value: string) => encodeURIComponent(value).replace(/^\.{1,2}$/, '~$&')

/** The arguments of the path that a call lacks. The API cannot name them: its path has no place for a missing part. */
export const missingIn = (tool: Tool, given: Readonly<Record<string, unknown>>): string[] =>
  fieldsOf(tool).flatMap(({ part, name }) =>
    part === 'params' && (given[name] === undefined || given[name] === null) ? [name] : [],
  )

/** The request that a call of a tool makes. */
export function requestOf(tool: Tool, given: Readonly<Record<string, unknown>>) {
  let { path } = tool.operation
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  const known = new Map(fieldsOf(tool).map(({ name, part }) => [name, part]))
  for (const [name, value] of Object.entries(given)) {
    const part = known.get(name)
    if (part === 'params') path = path.replace(`:${name}`, segment(String(value)))
    else if (part === 'query' && isCustomFilter(name) && typeof value === 'object')
      for (const [key, one] of Object.entries(value ?? {}))
        query.set(`custom_fields[${key}]${ends_of_custom_filters[name]}`, String(one))
    else if (part === 'query') query.set(name, String(value))
    // The API refuses what it does not know.
    else if (tool.writes && tool.operation.body) body[name] = value
    else query.set(name, String(value))
  }
  const search = query.toString()
  return {
    method: tool.method,
    path: path + (search && `?${search}`),
    ...(tool.writes && tool.operation.body && { body }),
  }
}
