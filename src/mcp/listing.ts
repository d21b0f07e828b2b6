import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { requireScope } from '../http/auth.ts'
import { callAs } from '../http/own-calls.ts'
import type { App } from '../http/server.ts'
import { argumentsOf } from './arguments.ts'
import type { Tool } from './tools.ts'

/** Whether the caller of a request has the scope of a tool. */
export function mayCall({ access }: FastifyRequest, tool: Tool): boolean {
  try {
    requireScope(access, tool.operation)
    return true
  } catch {
    return false
  }
}

const max_lists = 20

/** Makes the function that lists the tools of a caller. It keeps lists by the caller's tools and the definitions. */
export function createListing(app: App, tools: readonly Tool[]) {
  const lists = new Map<string, object[]>()
  // The messages of a batch share a read.
  const definitions = new WeakMap<FastifyRequest, Promise<Map<string, string>>>()

  return async function listTools(request: FastifyRequest): Promise<object[]> {
    const read = definitions.get(request) ?? definitionsFor(app, request)
    definitions.set(request, read)
    const defined = await read
    const allowed = tools.filter((tool) => mayCall(request, tool))
    const key = JSON.stringify([allowed.map(({ name }) => name), ...defined])
    const kept = lists.get(key) ?? allowed.map((tool) => listed(tool, defined))
    lists.delete(key)
    lists.set(key, kept)
    // The first one is the longest unused.
    if (lists.size > max_lists) lists.delete(lists.keys().next().value as string)
    return kept
  }
}

const listed = (tool: Tool, defined: ReadonlyMap<string, string>) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: argumentsOf(tool, defined.get(kindOf(tool)) ?? null),
  annotations: {
    title: tool.title,
    readOnlyHint: !tool.writes,
    destructiveHint: tool.destructive,
    idempotentHint: tool.method !== 'POST',
    openWorldHint: false,
  },
})

// The kind of records of a tool: the first part of its path.
const kindOf = ({ operation }: Tool): string => operation.path.split('/')[3] ?? ''

type Definition = { resource: string; key: string; label: string; type: string; options: string[] | null }

/** A description of the defined custom fields of each kind, for the arguments of its tools. */
async function definitionsFor(app: App, request: FastifyRequest): Promise<Map<string, string>> {
  const read = { method: 'GET', path: '/api/v1/custom-fields?per_page=100' }
  const { status, body } = await callAs(app, request, read, { counted: true })
  // The caller may not read them.
  if (status === 403) return new Map()
  if (status !== 200) throw new ApiError(body.error.code, body.error.message)
  const rest = body.meta.total - body.data.length
  const by_kind = Map.groupBy(body.data as Definition[], ({ resource }) => resource)
  return new Map(
    [...by_kind].map(([kind, definitions]) => {
      const described = definitions.map(
        ({ key, label, type, options }) =>
          `${quoted(key)} (${quoted(label)}, ${type}${options?.length ? `: ${some(options)}` : ''})`,
      )
      const more = rest > 0 ? ` list_custom_fields has ${rest} more, of all kinds.` : ''
      return [kind, `Values by key. Defined: ${described.join('; ')}.${more} Other keys are allowed.`]
    }),
  )
}

// list_custom_fields has all of them. With 200 options of each field, the list of tools would have megabytes.
const max_options = 20
// People name fields and options. Quoted, a name cannot read as a part of the description.
const quoted = (text: string): string => JSON.stringify(text)

const some = (options: readonly string[]): string =>
  [...options.slice(0, max_options).map(quoted), ...(options.length > max_options ? ['…'] : [])].join(' | ')
