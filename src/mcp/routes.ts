import { Readable } from 'node:stream'
import type { CallToolResult, McpHttpHandler, McpRequestContext } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { newId } from '../db/ids.ts'
import { type FieldProblem, invalid } from '../errors.ts'
import { requireScope } from '../http/auth.ts'
import type { Operation } from '../http/operation.ts'
import { callAs } from '../http/own-calls.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { createSessions, group_pattern } from './sessions.ts'
import { argumentsOf, missingIn, requestOf, type Tool, toolsOf } from './tools.ts'

// The Model Context Protocol, by which assistants use Rapport. A tool is an operation of the API: a call of a tool is a request
// of the service to itself with the credential of the caller. So scopes, checks, limits and the audit log are the same.

const path = '/mcp'
const session_header = 'mcp-session-id'

const instructions = `Rapport is a CRM: contacts, companies, deals, activities and appointments of one workspace.
Search before you create. Ids are numbers. Times are ISO 8601 in UTC.
Each change can be tried with dry_run: true. Each answer to a change names its change_group; revert_changes takes a group back.`

/** Serves /mcp: streamable HTTP, without a state of the connection, so any process answers. */
export function mcpRoutes(
  app: App,
  { scopes, clock, version }: Service & { version: string },
  operations: readonly Operation[],
): void {
  const tools = toolsOf(operations)
  const sessions = createSessions(clock)
  // Any key and any person may connect. Each tool needs the scope of its operation.
  const [scope = '', ...or_scopes] = scopes
  const operation: Operation = {
    method: 'POST',
    path,
    scope,
    or_scopes,
    summary: 'MCP',
    answers: {},
    extension: true,
    repeatable: false,
  }
  const requests = new WeakMap<Request, FastifyRequest>()
  let handler: Promise<McpHttpHandler> | undefined

  // Loaded at the first request, because most installations never need it.
  async function load(): Promise<McpHttpHandler> {
    const { createMcpHandler, Server } = await import('@modelcontextprotocol/server')
    const createServer = ({ requestInfo }: McpRequestContext) => {
      const request = requestInfo && requests.get(requestInfo)
      if (!request) throw new Error('The request of this server is unknown.')
      const server = new Server({ name: 'rapport', version }, { capabilities: { tools: {} }, instructions })
      server.setRequestHandler('tools/list', async () => ({ tools: (await listTools(request)) as never }))
      server.setRequestHandler('tools/call', ({ params }) =>
        callTool(request, params.name, params.arguments ?? {}),
      )
      return server
    }
    return createMcpHandler(createServer, { maxSubscriptions: 1 })
  }

  const mayCall = ({ access }: FastifyRequest, tool: Tool): boolean => {
    try {
      requireScope(access, tool.operation)
      return true
    } catch {
      return false
    }
  }

  async function listTools(request: FastifyRequest): Promise<object[]> {
    const defined = await definitionsFor(request)
    return tools
      .filter((tool) => mayCall(request, tool))
      .map((tool) => ({
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
      }))
  }

  /** A description of the defined custom fields of each kind, for the arguments of its tools. */
  async function definitionsFor(request: FastifyRequest): Promise<Map<string, string>> {
    const { status, body } = await callAs(app, request, {
      method: 'GET',
      path: '/api/v1/custom-fields?per_page=100',
    })
    if (status !== 200) return new Map()
    type Definition = { resource: string; key: string; label: string; type: string; options: string[] | null }
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

  async function callTool(
    request: FastifyRequest,
    name: string,
    { dry_run, change_group: asked, ...given }: Record<string, unknown>,
  ): Promise<CallToolResult> {
    const tool = tools.find((one) => one.name === name && mayCall(request, one))
    if (!tool) return failed({ code: 'not_found', message: `There is no tool ${name} for you.` })
    // Any other value would be a change, which the caller did not want.
    if (typeof (dry_run ?? false) !== 'boolean')
      return failed(
        problems([{ field: 'dry_run', code: 'invalid_type', message: 'dry_run must be a boolean.' }]),
      )
    if (asked !== undefined && !group_pattern.test(String(asked)))
      return failed({ code: 'validation_failed', message: 'change_group must be one that an answer named.' })
    const missing = missingIn(tool, given)
    if (missing.length) return failed(problems(missing.map(required)))
    const header = request.headers[session_header]
    const change_group = tool.writes
      ? String(asked ?? (group_pattern.test(String(header)) ? header : sessions.of(request.access.id)))
      : null
    const extra = { change_group, dry_run: dry_run === true }
    const { status, body, etag } = await callAs(app, request, requestOf(tool, given), extra)
    if (status >= 300) return failed(body.error)
    const { success: _, ...answer } = body
    const content = {
      ...answer,
      ...(etag && { etag }),
      ...(change_group && { change_group }),
      ...(extra.dry_run && { dry_run: true }),
    }
    return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content }
  }

  app.route({
    method: ['POST', 'GET', 'DELETE'],
    url: path,
    config: { operation },
    schema: { hide: true } as object,
    handler: async (request, reply) => {
      handler ??= load()
      const { fetch } = await handler
      const asked = new Request(`http://rapport${path}`, {
        method: request.method,
        headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
          typeof value === 'string' && name !== 'content-length' ? [[name, value]] : [],
        ),
        ...(request.method === 'POST' && { body: JSON.stringify(request.body) }),
      })
      requests.set(asked, request)
      const answer = await fetch(asked, { parsedBody: request.body })
      reply.code(answer.status)
      for (const [name, value] of answer.headers) reply.header(name, value)
      // Clients of the older protocol send it with each later request.
      if (isInitialize(request.body)) reply.header(session_header, newId('grp'))
      return reply.send(answer.body ? Readable.fromWeb(answer.body as never) : '') as never
    },
  })
}

// list_custom_fields has all of them. With 200 options of each field, the list of tools would have megabytes.
const max_options = 20
// People name fields and options. Quoted, a name cannot read as a part of the description.
const quoted = (text: string): string => JSON.stringify(text)

const some = (options: readonly string[]): string =>
  [...options.slice(0, max_options).map(quoted), ...(options.length > max_options ? ['…'] : [])].join(' | ')

const isInitialize = (body: unknown): boolean => (body as { method?: string } | null)?.method === 'initialize'

// The kind of records of a tool: the first part of its path.
const kindOf = ({ operation }: Tool): string => operation.path.split('/')[3] ?? ''

const required = (field: string): FieldProblem => ({
  field,
  code: 'required',
  message: `${field} is required.`,
})

const problems = (given: readonly FieldProblem[]) => {
  const { code, message, fields } = invalid(given)
  return { code, message, fields }
}

const failed = (error: { code: string; message: string; fields?: unknown }): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error }) }],
})
