import assert from 'node:assert/strict'
import { dataOf } from './envelope.ts'
import type { Rapport } from './harness.ts'

/** The clock of these tests: a Saturday, 09:30 in Berlin. */
export const now = '2026-11-21T08:30:00.000Z'

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects in an answer
export type Made = any

// So that a test may book as often as it likes; what the limits do is tried in booking/flood.test.ts.
const no_limits = {
  open_bookings_per_email: 1000,
  bookings_per_address_per_day: 10_000,
  bookings_per_hour: 10_000,
}

/**
 * Creates a booking page. By default it is in Berlin, open on weekdays from 9:00 to 17:00, with slots of 30 minutes.
 */
export async function makePage({ call }: Pick<Rapport, 'call'>, fields: object = {}): Promise<Made> {
  const page = { slug: 'demo', title: 'Product demo', time_zone: 'Europe/Berlin', ...no_limits, ...fields }
  return dataOf(await call('POST', '/api/v1/booking-pages', page), 201)
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

let pages = 0
/** Creates a booking page with an address of its own, and a visitor of it. */
export async function openPage(rapport: Pick<Rapport, 'call' | 'url'>, fields: object = {}) {
  const slug = `page-${++pages}`
  const page = await makePage(rapport, { slug, ...fields })
  return { page, path: `/book/${slug}`, ...visitor(rapport.url) }
}

let asking = 0
/** Books a time of a new page with approval, as a visitor; returns the id of the request. */
export async function makeRequest(rapport: Pick<Rapport, 'call' | 'url'>): Promise<number> {
  const { id, slug } = await makePage(rapport, { slug: `request-${++asking}`, approval: true })
  const { get, post } = visitor(rapport.url)
  const [{ start_at: slot }] = JSON.parse((await get(`/book/${slug}/slots`)).text).data
  const token = fieldOf((await get(`/book/${slug}?slot=${slot}`)).text, 'token')
  const answer = await post(`/book/${slug}`, { ...ana, slot, token })
  assert.equal(answer.status, 303, answer.text)
  const { body } = await rapport.call('GET', `/api/v1/appointments?booking_page_id=${id}`)
  return body.data[0].id
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
