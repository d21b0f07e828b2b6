import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { Single, single } from '../envelope.ts'
import { type Operation, operation } from '../operation.ts'
import type { App } from '../server.ts'
import { readScalar } from './scalar.ts'

// The browser refuses every other server: the page works offline, and no stored text can make it call elsewhere. Scalar
// writes style attributes, so styles need unsafe-inline.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="data:,">
    <title>Rapport API</title>
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs JavaScript. The same as JSON: <a href="/api/v1/openapi.json">openapi.json</a></noscript>
    <script src="/docs/scalar.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

// Scalar's own services are off: fonts, telemetry, proxy, agent, client.
const start = `Scalar.createApiReference('#docs', ${JSON.stringify({
  url: '/api/v1/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  documentDownloadType: 'direct',
  defaultOpenAllTags: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})})\n`

// All answers share these bytes, so that many slow clients do not need memory for many copies.
type File = { type: string; bytes: Buffer; etag: string }
const file = (type: string, text: string): File => ({
  type,
  bytes: Buffer.from(text),
  etag: `"${hash('sha256', text)}"`,
})

const Index = Type.Object(
  {
    resources: Type.Array(
      Type.Object(
        { name: Type.String(), path: Type.String(), description: Type.String() },
        {
          examples: [
            { name: 'contacts', path: '/api/v1/contacts', description: 'People, and the notes about them.' },
          ],
        },
      ),
    ),
    documentation: Type.String({ description: 'The documentation as a web page.', examples: ['/docs/'] }),
    openapi: Type.String({
      description: 'The API as an OpenAPI document.',
      examples: ['/api/v1/openapi.json'],
    }),
  },
  { title: 'Index' },
)

/** The parts of the document that the index reads. */
type Described = { paths?: Record<string, unknown>; tags?: { name: string; description?: string }[] }

/** GET /api/v1: the paths of all resources. It needs no key: the documentation is public too. */
export function apiIndex(app: App): void {
  let index: Static<typeof Index> | undefined
  const read = async () => {
    index ??= indexOf(app.swagger() as Described)
    return single(index)
  }
  const declared: Operation = {
    method: 'GET',
    path: '/api/v1',
    scope: 'open',
    summary: 'List the resources of this API',
    answers: { 200: Single(Index) },
    extension: true,
  }
  operation(app, declared, read)
  app.get('/api/v1/', { schema: { hide: true, response: { 200: Single(Index) } } as never }, read)
}

function indexOf({ paths = {}, tags = [] }: Described): Static<typeof Index> {
  const resources = tags.flatMap(({ name, description = '' }) => {
    const root = `/api/v1/${name}`
    const path = paths[root] ? root : Object.keys(paths).find((other) => other.startsWith(`${root}/`))
    return path === undefined ? [] : [{ name, path, description }]
  })
  return { resources, documentation: '/docs/', openapi: '/api/v1/openapi.json' }
}

/** The API document, and the page that shows it. The page works offline. */
export async function docsPage(app: App): Promise<void> {
  const hidden = { schema: { hide: true } }
  let document: Buffer | undefined
  app.get('/api/v1/openapi.json', hidden, async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(document)
  })

  let scalar: Promise<File> | undefined
  const files: Record<string, () => File | Promise<File>> = {
    '/docs': () => file('text/html', page),
    '/docs/': () => file('text/html', page),
    '/docs/start.js': () => file('text/javascript', start),
    '/docs/scalar.js': () => {
      // The script has megabytes, so the first request for it reads it, not the start.
      scalar ??= readScalar().then(
        (text) => file('text/javascript', text),
        (error) => {
          scalar = undefined
          throw error
        },
      )
      return scalar
    },
  }
  for (const [path, read] of Object.entries(files))
    app.get(path, hidden, async (request, reply) =>
      sendFile(reply, await read(), request.headers['if-none-match']),
    )
}

function sendFile(reply: FastifyReply, { type, bytes, etag }: File, known: string | undefined) {
  reply.headers({
    etag,
    'cache-control': 'no-cache',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'referrer-policy': 'no-referrer',
  })
  if (known === etag) return reply.code(304).send()
  return reply.type(`${type}; charset=utf-8`).send(bytes)
}
