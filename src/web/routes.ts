import { randomBytes } from 'node:crypto'
import { extname } from 'node:path'
import { acceptsCoding, compress } from '../http/compression.ts'
import type { App } from '../http/server.ts'
import { appSegment } from '../resources/derived.ts'
import type { Resource } from '../resources/resource.ts'
import type { WebFiles } from './files.ts'

// All files come from this server. Generated styles carry the page's nonce. The only frame is the preview of a booking page.
const policyWith = (nonce: string) =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

// The pages without a session, which have a document of their own.
const open_segments = ['sign-in', 'setup', 'invitation', 'reset']
// The first segments of the app's paths. Other paths get their answer in JSON.
const own_segments = ['reports', 'trash', 'audit-log', 'notifications', 'settings']
const segmentsOf = (resources: readonly Resource[]): string[] =>
  resources.flatMap((resource) => (resource.part_of ? [] : [appSegment(resource)]))

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}
// The best one first.
const codings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
]

/** Serves the assets, whose names change with their content. All answers share the bytes of a file. */
function assetRoute(app: App, { names, read }: WebFiles) {
  const known = new Set(names)
  const files = new Map<string, Buffer>()
  const bytesOf = (name: string): Buffer => {
    const bytes = files.get(name) ?? read(name)
    files.set(name, bytes)
    return bytes
  }
  app.get<{ Params: { file: string } }>(
    '/assets/:file',
    { schema: { hide: true } as never },
    async ({ params, headers }, reply) => {
      const name = `assets/${params.file}`
      if (!known.has(name)) return reply.callNotFound()
      const coding = codings.find(
        (each) => known.has(name + each.extension) && acceptsCoding(headers['accept-encoding'], each.name),
      )
      const etag = `"${params.file}${coding?.extension ?? ''}"`
      reply.headers({
        etag,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
      })
      if (headers['if-none-match'] === etag) return reply.code(304).send()
      if (coding) reply.header('content-encoding', coding.name)
      return reply
        .type(types[extname(name)] ?? 'application/octet-stream')
        .send(bytesOf(name + (coding?.extension ?? '')))
    },
  )
}

/** Serves the web app: a document for its pages, one for the pages without a session, and the assets. */
export function webApp(app: App, files: WebFiles, resources: readonly Resource[]): void {
  assetRoute(app, files)
  const pathsOf = (segments: readonly string[]) =>
    segments.flatMap((segment) => [`/${segment}`, `/${segment}/*`])
  documentRoutes(app, files.read('open.html'), pathsOf(open_segments))
  documentRoutes(app, files.read('index.html'), [
    '/',
    ...pathsOf([...own_segments, ...segmentsOf(resources)]),
  ])
}

/**
 * Serves a document at some paths. It is compressed each time, for its nonce. Nothing of a request is in it, so that its size
 * tells another site nothing (BREACH).
 */
function documentRoutes(app: App, document: Buffer, paths: readonly string[]): void {
  const parts = document.toString().split('%NONCE%')
  for (const path of paths)
    app.get(path, { schema: { hide: true } }, async ({ headers }, reply) => {
      // A program that forgot the prefix of the API must get an error, not a page.
      if (path !== '/' && !headers.accept?.includes('text/html')) return reply.callNotFound()
      const nonce = randomBytes(16).toString('base64')
      const text = parts.join(nonce)
      const packs = acceptsCoding(headers['accept-encoding'], 'gzip')
      if (packs) reply.header('content-encoding', 'gzip')
      return reply
        .headers({
          'content-security-policy': policyWith(nonce),
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'cross-origin-opener-policy': 'same-origin',
        })
        .type('text/html; charset=utf-8')
        .send(packs ? await compress(text) : text)
    })
}
