import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { createAddressLimit } from '../http/address-limit.ts'
import { publicError } from '../http/errors.ts'
import { type App, logFailure } from '../http/server.ts'
import type { Screen } from './html.ts'
import { wordsScreen } from './screens.ts'

/** Whether a request asks for JSON: the list of free times, or a request that accepts only JSON. */
export const wantsJson = ({ url, headers: { accept = '' } }: FastifyRequest) =>
  /\/slots(\?|$)/.test(url) || (accept.includes('application/json') && !accept.includes('text/html'))

const words: Record<number, [title: string, text: string]> = {
  404: [
    'There is nothing here',
    'This address takes no bookings at the moment, or a link is not complete.\n\nCheck the address, or ask the person who gave it to you.',
  ],
  405: ['This is not possible here', 'Go back and try it again from there.'],
  413: ['This is too much text', 'Go back and send a shorter message.'],
  429: [
    'One moment, please',
    'There were many requests from your network. Wait a few seconds, then load the page again.',
  ],
  500: ['Something went wrong here', 'It is not your fault. Try it again in a moment.'],
  503: ['This does not work at the moment', 'Nothing was changed. Try it again in a moment.'],
}

/** The page of an error. */
export const errorScreen = (status: number): Screen => {
  const [title, text] = words[status] ?? ['This request is not valid', 'Go back and try it again from there.']
  return wordsScreen(status, title, text)
}

/** Answers errors with a page, or with the envelope if the request asks for JSON. */
export function answerErrors(app: App, show: (reply: FastifyReply, screen: Screen) => FastifyReply): void {
  app.setErrorHandler((error, request, reply) => {
    // The error handler of the server answers with the envelope.
    if (wantsJson(request)) throw error
    const { statusCode, headers } = publicError(error) ?? { statusCode: 500, headers: {} }
    if (statusCode >= 500) logFailure(error, request, statusCode)
    return show(reply.headers(headers), errorScreen(statusCode))
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
