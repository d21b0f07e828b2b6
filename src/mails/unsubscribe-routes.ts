import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { localeOf } from '../booking-site/days.ts'
import { transaction } from '../db/db.ts'
import { notFound } from '../errors.ts'
import { createAddressLimit } from '../http/address-limit.ts'
import { html } from '../http/html.ts'
import { operation } from '../http/operation.ts'
import type { App } from '../http/server.ts'
import type { Service } from '../http/service.ts'
import { mailingOf } from './mailing.ts'
import { languageOf, mailTexts } from './texts.ts'
import { unsubscribe, unsubscribedBy } from './unsubscribing.ts'

const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}
const style =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}'

const languageOfRequest = ({ headers }: FastifyRequest) =>
  languageOf(localeOf(headers['accept-language']).slice(0, 2))

function page(request: FastifyRequest, done: boolean): string {
  const language = languageOfRequest(request)
  const t = mailTexts(language).unsubscribing
  const title = done ? t.done_title : t.title
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${done ? t.done : t.question}</p>
${!done && html`<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${t.button}</button></form>`}
</main>
</body>
</html>
`.text
}

const HtmlPage = { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } }

/** The links to unsubscribe (RFC 8058). GET shows a page with a button, POST switches the kind of mails off. */
export async function unsubscribeRoutes(
  root: App,
  { db, clock, config }: Service & { config: { open_rate_per_second: number } },
): Promise<void> {
  await root.register(async (scope) => {
    const app = scope as unknown as App
    const limit = createAddressLimit(config.open_rate_per_second, clock)
    if (limit) app.addHook('onRequest', async (request) => limit(request))
    // The body says nothing that the path does not say.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: 1024 }, async () => ({}))
    const shared = {
      path: '/mail/unsubscribe/:token',
      scope: 'open',
      params: Type.Object({ token: Type.String() }),
      answers: { 200: HtmlPage },
      // The path holds the token, so the request log leaves it out.
      unlogged: true,
    }
    const known = (token: string) => {
      const mailing = mailingOf(db)
      const found = mailing && unsubscribedBy(mailing.mac, token)
      if (!found) throw notFound('This link')
      return found
    }
    operation(
      app,
      { ...shared, method: 'GET', summary: 'Show a page that stops a kind of mails' },
      async (request, reply) => {
        known(request.params.token)
        return reply.headers(headers).type('text/html; charset=utf-8').send(page(request, false))
      },
    )
    operation(
      app,
      { ...shared, method: 'POST', summary: 'Stop a kind of mails', repeatable: false },
      async (request, reply) => {
        const found = known(request.params.token)
        await transaction(db, (tx) => unsubscribe(tx, found))
        return reply.headers(headers).type('text/html; charset=utf-8').send(page(request, true))
      },
    )
  })
}
