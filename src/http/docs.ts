import type { App } from './server.ts'

/** The API document, the page that shows it, and the way there from /. */
export async function docsPage(app: App): Promise<void> {
  let document: string | undefined
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(document)
  })
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs/', 302))
}
