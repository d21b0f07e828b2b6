import { type Static, Type } from 'typebox'
import { compressOnce } from '../compression.ts'
import { Single, single } from '../envelope.ts'
import { Titled } from '../fields.ts'
import { type File, packedFile, plainFile, sendFile } from '../files.ts'
import { type Operation, operation } from '../operation.ts'
import type { App } from '../server.ts'
import { packedScalar } from './scalar.ts'

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

const pageWith = (start: string, scalar: string) => `<!doctype html>
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
    <script src="/docs/scalar.js?${scalar}"></script>
    <script src="/docs/start.js?${start}"></script>
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

const Index = Titled('Index', {
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
})

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
  // They are large, so the first request for them makes them, not the start.
  const scalar = once(async () => packedFile('text/javascript', await packedScalar()))
  const document = once(async () => {
    const text = JSON.stringify(app.swagger())
    return packedFile('application/json', await compressOnce(Buffer.from(text)))
  })
  const start_file = plainFile('text/javascript', start)
  const page = once(async () => plainFile('text/html', pageWith(start_file.hash, (await scalar()).hash)))
  const files: Record<string, () => File | Promise<File>> = {
    '/api/v1/openapi.json': document,
    '/docs': page,
    '/docs/': page,
    '/docs/start.js': () => start_file,
    '/docs/scalar.js': scalar,
  }
  for (const [path, read] of Object.entries(files))
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      reply.headers({
        'content-security-policy': policy,
        'x-dns-prefetch-control': 'off',
        'referrer-policy': 'no-referrer',
      })
      return sendFile(request, reply, await read())
    })
}

/** Makes a value when it is first asked for. An error is not kept. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}
