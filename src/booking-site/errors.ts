import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { createAddressLimit } from '../http/address-limit.ts'
import { publicError } from '../http/errors.ts'
import { type App, logFailure } from '../http/server.ts'
import { localeOf } from './days.ts'
import type { Screen } from './html.ts'
import { wordsScreen } from './screens.ts'
import { textsOf } from './texts.ts'

/** Whether a request asks for JSON: the list of free times, or a request that accepts only JSON. */
export const wantsJson = ({ url, headers: { accept = '' } }: FastifyRequest) =>
  /\/slots(\?|$)/.test(url) || (accept.includes('application/json') && !accept.includes('text/html'))

/** The page of an error, in the visitor's language. */
export function errorScreen(status: number, { headers }: Pick<FastifyRequest, 'headers'>): Screen {
  const t = textsOf({ locale: localeOf(headers['accept-language']) })
  const known = Object.hasOwn(t.errors, status) ? t.errors[String(status) as keyof typeof t.errors] : null
  const { title, text } = known ?? t.invalid
  return wordsScreen(status, title, text)
}

/** Answers errors with a page, or with the envelope if the request asks for JSON. */
export function answerErrors(app: App, show: (reply: FastifyReply, screen: Screen) => FastifyReply): void {
  app.setErrorHandler((error, request, reply) => {
    // The error handler of the server answers with the envelope.
    if (wantsJson(request)) throw error
    const { statusCode, headers } = publicError(error) ?? { statusCode: 500, headers: {} }
    if (statusCode >= 500) logFailure(error, request, statusCode)
    return show(reply.headers(headers), errorScreen(statusCode, request))
  })
}

/** Limits the requests of each address in this process. Assets, which browsers cache, do not count. */
export function limitAddresses(app: App, per_second: number, clock: Clock): void {
  const limit = createAddressLimit(per_second, clock)
  if (!limit) return
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url !== '/book/_/:file') limit(request)
  })
}
