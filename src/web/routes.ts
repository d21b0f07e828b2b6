import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { App } from '../http/server.ts'
import type { Resource } from '../resources/resource.ts'

// Everything comes from this server; styles that the program makes carry the page's nonce. The one frame is the preview of
// a booking page.
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

// The first parts of the app's addresses; every other address keeps its answer, which is JSON.
const places = ['sign-in', 'setup', 'invitation', 'reset', 'trash', 'audit-log', 'settings']
// A list that is not named as its resource.
const names: Record<string, string> = { appointments: 'calendar' }

const placesOf = (resources: readonly Resource[]): string[] =>
  resources.flatMap(({ table, part_of }) => (part_of ? [] : [names[table] ?? table.replaceAll('_', '-')]))

/** The web app at / and at its pages' addresses: one document, and its parts, which never change under their names. */
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
  const addresses = [...places, ...placesOf(resources)].flatMap((place) => [`/${place}`, `/${place}/*`])
  for (const path of ['/', ...addresses])
    app.get(path, { schema: { hide: true } }, async ({ headers }, reply) => {
      // A program that has forgotten the API's prefix must not take a page for an answer.
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
