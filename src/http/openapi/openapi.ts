import swagger from '@fastify/swagger'
import type { Resource } from '../../resources/resource.ts'
import { cookieName } from '../auth.ts'
import type { Operation } from '../operation.ts'
import type { App } from '../server.ts'
import { describeEvent, eventUnion } from './events.ts'
import { addExamples } from './examples.ts'
import { checkIds } from './names.ts'
import { completeOperation, type Described, marksOf } from './operations.ts'
import { ErrorSchema, headers, parameters, responses, shareSchemas } from './parts.ts'

const about = `Contacts, companies, deals and webhooks.

**Keys.** Every call carries \`Authorization: Bearer <API_KEY>\`. A key belongs to one workspace and has scopes.

**Answers.** Always JSON with \`success\`: \`data\` (lists add \`meta\`), or \`error\` with a code, a message and every failing field.
Each answer has an \`X-Request-Id\`.

**Writing.** Absent is unchanged, null clears. \`Idempotency-Key\` makes a POST safe to repeat for 24 hours; \`If-Match\` with
the \`ETag\` that was read refuses to overwrite somebody else's change.

**Limits.** \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` tell what is left; 429 and 503 say when to come
back in \`Retry-After\`.

Filters marked with \`x-filter\` take several values with commas between them; \`\\,\` and \`\\!\` are plain characters of a
value.

Operations marked as an extension (\`x-extension\`) go beyond the base interface.`

const other_tags = {
  search: 'One search over all kinds of records.',
  merges: 'Merges of records, and how they are undone.',
  'audit-log': 'The author, the time and the fields of each change.',
  work: 'Unfinished work in the background.',
  setup: 'The first account of an installation.',
  session: 'Signing in and out, and the workspace of the session.',
  sessions: 'The sessions of the signed-in person.',
  profile: 'The own account.',
  'password-reset': 'A new password for a person who has forgotten the old one.',
  members: 'The people of the workspace, and what they may do.',
  invitations: 'Invitations of people to a workspace.',
  workspace: 'The workspace of a key or a session.',
  workspaces: 'Creating another workspace.',
  trash: 'Deleted records: restore them within the retention time, or erase them at once.',
  reports: 'Sums of deals and counts of activities.',
  views: 'Lists with their filters, kept under a name for everybody in the workspace, or for one person.',
  'view-tabs': 'The order of the views above a list, and which one opens first, of the signed-in person.',
  'custom-fields': 'Definitions of custom fields: their types, and what a value must be.',
  imports: 'Files whose rows become records.',
  notifications:
    'Notifications of the signed-in person: assignments, mentions, failed webhooks, ended imports.',
  'busy-calendars': 'Calendars of other programs, by which the signed-in person is busy.',
  'calendar-feeds': 'Addresses by which calendar programs read the appointments of the signed-in person.',
  keys: 'API keys: made, listed, taken back.',
  webhooks: 'URLs that receive events.',
  mails: 'Mails that the service sends, with every attempt.',
  deliveries: 'The log of the deliveries to webhooks, with every attempt.',
  'event-types': 'The events, with the schema and an example of their payloads.',
  events:
    'What happened, in order: to read, to follow, and sent to the registered addresses as signed POST requests.',
}

// A tag is the first part of a path after the version.
const tagOf = (path: string) => path.split('/')[3] ?? 'index'

const tagsOf = (resources: readonly Resource[]) => [
  { name: 'index', description: 'The list of all resources.' },
  ...resources.flatMap(({ path, about }) => (about ? [{ name: tagOf(path), description: about }] : [])),
  ...Object.entries(other_tags).map(([name, description]) => ({ name, description })),
]

/** Describes all routes that are registered later in the OpenAPI 3.1 document, which app.swagger() returns. */
export async function describeApi(app: App, resources: readonly Resource[], version: string): Promise<void> {
  const declared = new Map<string, Operation>()
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Rapport',
        version,
        description: about,
        license: { name: 'MIT', identifier: 'MIT' } as never,
      },
      servers: [{ url: '/' }],
      tags: tagsOf(resources),
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'An API key, crm_…' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: cookieName('http'),
            description: `The session of a signed-in person. Over https, its name is ${cookieName('https')}.`,
          },
        },
        schemas: { Error: ErrorSchema as never },
        parameters: parameters as never,
        responses: responses as never,
        headers: headers as never,
      },
      security: [{ key: [] }, { session: [] }],
      webhooks: webhooksOf(resources) as never,
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: describeRoute(schema as never, route as never, declared) as never,
    }),
    transformObject: (document) =>
      finishDocument((document as { openapiObject: Document }).openapiObject, declared, resources) as never,
  })
}

const webhooksOf = (resources: readonly Resource[]) =>
  Object.fromEntries(
    resources.flatMap(({ events }) => events.map((event) => [event.name, describeEvent(event)])),
  )

type Schema = Record<string, unknown> & { hide?: boolean }
type Route = { method: string | string[]; url: string; config?: { operation?: Operation } }

// Only routes of the API are described. Health, metrics and the page of this document are left out.
function describeRoute(
  schema: Schema | undefined,
  { method, url, config }: Route,
  declared: Map<string, Operation>,
): Schema {
  const operation = config?.operation
  if (!operation || !url.startsWith('/api/v1')) return { ...schema, hide: true }
  for (const each of [method].flat()) declared.set(nameOf(each, url), operation)
  return { ...schema, ...marksOf(operation) }
}

// As in the document: get /api/v1/contacts/{id}.
const nameOf = (method: string, path: string) =>
  `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`

type Document = {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, unknown> }
}

const method_order = ['get', 'post', 'put', 'patch', 'delete']

// Adds the parts that operations share. Sorts the methods of a path: the order of registration does not matter.
function finishDocument(
  document: Document,
  declared: Map<string, Operation>,
  resources: readonly Resource[],
): Document {
  const ids: { name: string; id: string }[] = []
  for (const [path, operations] of Object.entries(document.paths))
    document.paths[path] = Object.fromEntries(
      method_order.flatMap((method) => {
        const described = operations[method]
        const operation = declared.get(`${method} ${path}`)
        if (!described || !operation) return []
        const completed = completeOperation(method, described, operation)
        ids.push({ name: `${method.toUpperCase()} ${path}`, id: completed.operationId })
        return [[method, completed]]
      }),
    )
  checkIds(ids)
  const shared = shareSchemas(document)
  const { schemas } = shared.components
  // The feed declares the fields that all events have. Clients tell the events apart by their names.
  schemas.Event = eventUnion(resources.flatMap(({ events }) => events))
  addExamples(
    Object.values(shared.paths).flatMap((operations) => Object.values(operations)),
    schemas,
  )
  return shared
}
