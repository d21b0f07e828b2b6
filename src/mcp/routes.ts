import { Readable } from 'node:stream'
import type { CallToolResult, McpHttpHandler, McpRequestContext } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { newId } from '../db/ids.ts'
import { invalid, NotJson } from '../errors.ts'
import { publicError } from '../http/errors.ts'
import type { Operation } from '../http/operation.ts'
import { callAs } from '../http/own-calls.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { changesTags, problemsIn, requestOf } from './arguments.ts'
import { answerBatch, batchProblem, codes, isInitialize, protocolError } from './batch.ts'
import { createListing, mayCall } from './listing.ts'
import { createSessions, group_pattern } from './sessions.ts'
import { type Tool, toolsOf } from './tools.ts'

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
  { scopes, clock, resources, version }: Service & { version: string },
  operations: readonly Operation[],
): void {
  const tools = toolsOf(operations, resources)
  const listTools = createListing(app, tools)
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
    repeatable: false,
  }
  const requests = new WeakMap<Request, FastifyRequest>()
  let handler: Promise<McpHttpHandler> | undefined

  // Loaded at the first request, because most installations never need it.
  async function load(): Promise<McpHttpHandler> {
    const { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } = await import(
      '@modelcontextprotocol/server'
    )
    const createServer = ({ requestInfo }: McpRequestContext) => {
      const request = requestInfo && requests.get(requestInfo)
      if (!request) throw new Error('The request of this server is unknown.')
      const server = new Server({ name: 'rapport', version }, { capabilities: { tools: {} }, instructions })
      server.setRequestHandler('tools/list', async () => ({ tools: (await listTools(request)) as never }))
      server.setRequestHandler('tools/call', ({ params }) => {
        const tool = tools.find((one) => one.name === params.name && mayCall(request, one))
        if (tool) return callTool(request, tool, params.arguments ?? {})
        const message = `There is no tool ${params.name} for you. tools/list has your tools.`
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
      })
      return server
    }
    return createMcpHandler(createServer, { maxSubscriptions: 1 })
  }

  async function callTool(
    request: FastifyRequest,
    tool: Tool,
    given: Record<string, unknown>,
  ): Promise<CallToolResult> {
    const refused = problemsIn(tool, given)
    if (refused.length) {
      const { code, message, fields } = invalid(refused)
      return failed({ code, message, fields })
    }
    const { dry_run, change_group: asked, ...sent } = given
    const header = request.headers[session_header]
    const change_group = tool.writes
      ? String(asked ?? (group_pattern.test(String(header)) ? header : sessions.of(request.access.id)))
      : null
    const asked_for = requestOf(tool, sent)
    // Null clears them.
    const adds_tags = changesTags(tool) && sent.replace_tags !== true && asked_for.body?.tags !== null
    const extra = { change_group, dry_run: dry_run === true, adds_tags, counted: true }
    const { status, body, etag } = await callAs(app, request, asked_for, extra)
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

  /** Answers a message, by the same rules alone and in a batch. */
  async function serve(request: FastifyRequest, message: unknown): Promise<Response> {
    handler ??= load()
    const { fetch } = await handler
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && name !== 'content-length' ? [[name, value]] : [],
    )
    const asked = new Request(`http://rapport${path}`, { method: request.method, headers })
    requests.set(asked, request)
    return fetch(asked, { parsedBody: message })
  }

  app.route({
    method: ['POST', 'GET', 'DELETE'],
    url: path,
    config: { operation },
    schema: { hide: true } as object,
    errorHandler: answerError,
    handler: async (request, reply) => {
      const { body, method } = request
      if (method === 'POST' && body === undefined) throw new NotJson('The body is empty. Send a message.')
      if (Array.isArray(body)) {
        const problem = batchProblem(request, body)
        if (problem) return reply.code(400).send(protocolError(codes.invalid_request, problem)) as never
        await reply.countMore(body.length - 1)
        return answerBatch(reply, body, (message) => serve(request, message)) as never
      }
      const answer = await serve(request, body)
      reply.code(answer.status)
      for (const [name, value] of answer.headers) reply.header(name, value)
      // Clients of the older protocol send it with each later request.
      if (isInitialize(body)) reply.header(session_header, newId('grp'))
      return reply.send(answer.body ? Readable.fromWeb(answer.body as never) : '') as never
    },
  })
}

function answerError(error: unknown, _request: FastifyRequest, reply: FastifyReply): void {
  const known = publicError(error)
  if (known?.code === 'bad_request') {
    const code = known instanceof NotJson ? codes.parse_error : codes.invalid_request
    reply.code(known.statusCode).send(protocolError(code, known.message))
  }
  // Other errors are those of every request, such as 401.
  else reply.send(error)
}

const failed = (error: { code: string; message: string; fields?: unknown }): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error }) }],
})
