import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { App } from '../http/server.ts'
import type { Resource } from '../resources/resource.ts'

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
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

// The first segments of the app's paths. Other paths get their answer in JSON.
const own_segments = ['sign-in', 'setup', 'invitation', 'reset', 'trash', 'audit-log', 'settings']
// Lists whose path does not have the name of the table.
const other_names: Record<string, string> = { appointments: 'calendar' }

const segmentsOf = (resources: readonly Resource[]): string[] =>
  resources.flatMap(({ table, part_of }) =>
    part_of ? [] : [other_names[table] ?? table.replaceAll('_', '-')],
  )

/** Serves the web app: one document for all its pages, and its assets, whose names change with their content. */
export async function webApp(app: App, folder: string, resources: readonly Resource[]): Promise<void> {
  await app.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
    decorateReply: false,
    setHeaders: (reply) => reply.header('x-content-type-options', 'nosniff'),
  })
  const parts = readFileSync(join(folder, 'index.html'), 'utf8').split('%NONCE%')
  const segments = [...own_segments, ...segmentsOf(resources)]
  const paths = segments.flatMap((segment) => [`/${segment}`, `/${segment}/*`])
  for (const path of ['/', ...paths])
    app.get(path, { schema: { hide: true } }, async ({ headers }, reply) => {
      // A program that forgot the prefix of the API must get an error, not a page.
      if (path !== '/' && !headers.accept?.includes('text/html')) return reply.callNotFound()
      const nonce = randomBytes(16).toString('base64')
      return reply
        .headers({
          'content-security-policy': policyWith(nonce),
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'cross-origin-opener-policy': 'same-origin',
        })
        .type('text/html; charset=utf-8')
        .send(parts.join(nonce))
    })
}
