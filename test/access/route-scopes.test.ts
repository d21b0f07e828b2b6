// runs: once
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { scopes } from '../../src/app.ts'
import { startRapport } from '../harness.ts'

test('every route below /api/v1 needs a scope, of reading or writing as its method says; what is open to all, or to everybody who is signed in, is listed here', async (t) => {
  const routes: { method: string; url: string; scope: string }[] = []
  const watch = (message: unknown) => {
    const { fastify } = message as {
      fastify: { addHook(name: 'onRoute', hook: (route: Route) => void): void }
    }
    fastify.addHook('onRoute', ({ method, url, config }) => {
      const { scope = 'open' } = config?.operation ?? {}
      for (const one of [method].flat()) routes.push({ method: one, url, scope })
    })
  }
  subscribe('fastify.initialization', watch)
  t.after(() => unsubscribe('fastify.initialization', watch))
  await (await startRapport()).close()

  const open = new Set(routes.filter(({ scope }) => scope === 'open').map(({ url }) => url))
  assert.deepEqual([...open].filter((url) => !url.startsWith('/docs')).sort(), [
    '/',
    '/api/v1',
    '/api/v1/',
    '/api/v1/invitations/accept',
    '/api/v1/invitations/look-up',
    '/api/v1/openapi.json',
    '/api/v1/password-reset',
    '/api/v1/password-reset/request',
    '/api/v1/session',
    '/api/v1/setup',
    '/book/:slug',
    '/book/:slug/a/:token',
    '/book/:slug/a/:token/calendar.ics',
    '/book/:slug/a/:token/cancel',
    '/book/:slug/a/:token/move',
    '/book/:slug/booked',
    '/book/:slug/slots',
    '/book/_/:file',
    '/healthz',
    '/ics/:file',
    '/mail/unsubscribe/:token',
    '/metrics',
    '/readyz',
  ])
  const own = routes.filter(({ scope }) => scope === 'session')
  assert.deepEqual([...new Set(own.map(({ url }) => url))].sort(), [
    '/api/v1/busy-calendars',
    '/api/v1/busy-calendars/:calendar_id',
    '/api/v1/busy-calendars/:calendar_id/refresh',
    '/api/v1/calendar-feeds',
    '/api/v1/calendar-feeds/:feed_id',
    '/api/v1/notifications',
    '/api/v1/notifications/read',
    '/api/v1/profile',
    '/api/v1/profile/delete',
    '/api/v1/profile/password',
    '/api/v1/session',
    '/api/v1/sessions',
    '/api/v1/sessions/:session_id',
    '/api/v1/view-tabs',
    '/api/v1/view-tabs/:list',
  ])
  const guarded = routes.filter(({ scope }) => scope !== 'open' && scope !== 'session')
  for (const { method, url, scope } of guarded) {
    // Any key may connect. Each tool needs the scope of its operation.
    if (url === '/mcp') continue
    assert.ok(scopes.includes(scope), `${method} ${url} wants the scope ${scope}, which no key can have`)
    // Only callers who may invite can read invitations.
    const reads = ['GET', 'HEAD'].includes(method) && !url.startsWith('/api/v1/invitations')
    assert.equal(scope.split(':')[1], reads ? 'read' : 'write', `${method} ${url}`)
  }
  assert.ok(guarded.length > 40)
})

type Route = { method: string | string[]; url: string; config?: { operation?: { scope: string } } }
