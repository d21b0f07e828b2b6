import assert from 'node:assert/strict'
import type { Rapport } from './harness.ts'

/** The clock of these tests: a Saturday, 09:30 in Berlin. */
export const now = '2026-11-21T08:30:00.000Z'

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
export type Made = any

/** Makes a booking page; by default one in Berlin, open on weekdays from nine to five, with slots of 30 minutes. */
export async function makePage({ call }: Pick<Rapport, 'call'>, fields: object = {}): Promise<Made> {
  const page = { slug: 'demo', title: 'Product demo', time_zone: 'Europe/Berlin', ...fields }
  const reply = await call('POST', '/api/v1/booking-pages', page)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}

export type Answer = { status: number; headers: Headers; text: string; location: string }

/** Opens pages as a browser without a script does; redirects are not followed. */
export function visitor(url: string, more_headers: Record<string, string> = {}) {
  async function ask(path: string, options: RequestInit = {}): Promise<Answer> {
    const headers = { accept: 'text/html', ...more_headers, ...(options.headers as Record<string, string>) }
    const answer = await fetch(url + path, { redirect: 'manual', ...options, headers })
    const { status } = answer
    return {
      status,
      headers: answer.headers,
      text: await answer.text(),
      location: answer.headers.get('location') ?? '',
    }
  }
  return {
    get: (path: string, headers: Record<string, string> = {}) => ask(path, { headers }),
    post: (path: string, fields: Record<string, string>) =>
      ask(path, { method: 'POST', body: new URLSearchParams(fields) }),
  }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
/** A text of HTML as it is read. */
export const unescaped = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] as string)

/** The value of a form's field. */
export function fieldOf(page: string, name: string): string {
  const [tag = ''] = new RegExp(`<input[^>]*name="${name}"[^>]*>`).exec(page) ?? []
  return unescaped(/value="([^"]*)"/.exec(tag)?.[1] ?? '')
}

/** The times that a page offers, as buttons or to choose from. */
export const timesOf = (page: string): string[] =>
  [...page.matchAll(/name="slot" value="([^"]+)"/g)].map(([, time]) => time as string)

export const ana = {
  first_name: 'Ana',
  last_name: 'Ruiz',
  email: 'ana.ruiz@acme.example',
  phone: '+34 910 55 01 42',
  message: 'We are twelve people.',
}
