import { queryOptions } from '@tanstack/react-query'
import { type Aborted, api, dataOf, type Schemas } from '../api/client.ts'
import { bookingPagesApi } from './kind.ts'

export type BookingPage = Schemas['BookingPage']
export type ListedBookingPage = Schemas['ListedBookingPage']
export type SlotReason = Schemas['SlotReason']
/** Opening hours in the page's zone (HH:MM); `to` may be 24:00. */
export type Hours = { from: string; to: string }
export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const
type Weekday = (typeof weekdays)[number]

/** The number fields of the editor, each with its step. */
export const number_fields = [
  ['duration_minutes', 5],
  ['buffer_minutes', 5],
  ['minimum_notice_minutes', 30],
  ['horizon_days', 1],
] as const
/** The limits against abuse. */
export const limit_fields = [
  ['open_bookings_per_email', 1],
  ['bookings_per_address_per_day', 1],
  ['bookings_per_hour', 1],
] as const
type NumberField = (typeof number_fields | typeof limit_fields)[number][0]

export const assignments = ['fixed', 'round_robin', 'collective'] as const
export const stale_calendars = ['offer', 'stop'] as const
export const question_types = [
  'text',
  'long_text',
  'number',
  'boolean',
  'date',
  'select',
  'url',
  'email',
] as const

/** Minutes, or a text that is not a number: the service refuses it. */
export type Minutes = number | string
export const minutesIn = (texts: readonly string[]): Minutes[] =>
  texts.map((text) => (Number.isNaN(Number(text)) ? text : Number(text)))

/** The state of the editor: all fields of the API, as plain strings and numbers. */
export type Draft = {
  slug: string
  title: string
  description: string
  time_zone: string
  active: boolean
  approval: boolean
  links_in_events: boolean
  availability: Partial<Record<Weekday, Hours[]>>
  date_overrides: Record<string, Hours[]>
  hosts: (Omit<BookingPage['hosts'][number], 'weight'> & { weight: number | null })[]
  durations: Minutes[] | null
  reminders_minutes: Minutes[]
} & Pick<BookingPage, 'assignment' | 'stale_calendars' | 'embed_origins' | 'questions'> &
  Record<NumberField, number | string>

export function draftOf(page: BookingPage): Draft {
  const { id: _, created_at: __, updated_at: ___, description, ...fields } = page
  const { availability, date_overrides } = fields as Pick<Draft, 'availability' | 'date_overrides'>
  return { ...fields, description: description ?? '', availability, date_overrides }
}

/** The fields of a draft for the API. The service reports an empty number as missing. */
export const bodyOf = (fields: Partial<Draft>) => ({
  ...fields,
  ...(fields.description === '' && { description: null }),
  // The label of a question is its key by default.
  ...(fields.questions && {
    questions: fields.questions.map(({ label, ...one }) => ({ ...one, ...(label.trim() && { label }) })),
  }),
})

/** The public URL of a page. */
export const publicAddress = (slug: string): string => `${window.location.origin}/book/${slug}`

export const bookingPagesQuery = (page: number, sort: string) => ({
  queryKey: ['booking_pages', 'list', page, sort],
  queryFn: ({ signal }: Aborted) => bookingPagesApi.list({ page, sort: sort as '-created_at' }, signal),
})

const day_ms = 86_400_000
const longest_days = 62
const most_slots = 40

/** The next free times: of this week, else of the next two months. */
export const slotsQuery = (id: number) =>
  queryOptions({
    queryKey: ['booking_pages', 'slots', id],
    queryFn: async ({ signal }) => {
      const slots = (query: { from?: string; to?: string }) =>
        dataOf(api.GET('/api/v1/booking-pages/{id}/slots', { params: { path: { id }, query }, signal }))
      const week = await slots({})
      if (week.length) return week.slice(0, most_slots)
      const now = Date.now()
      const [from, to] = [now, now + longest_days * day_ms].map((ms) => new Date(ms).toISOString())
      return (await slots({ from, to } as { from: string; to: string })).slice(0, most_slots)
    },
  })

/** Why a page offers a time, or does not. */
export const explainQuery = (id: number, at: string | null) =>
  queryOptions({
    queryKey: ['booking_pages', 'explain', id, at],
    enabled: at !== null,
    queryFn: async ({ signal }) => {
      const query = { explain: 'true' as const, at: at as string }
      const slots = api.GET('/api/v1/booking-pages/{id}/slots', { params: { path: { id }, query }, signal })
      return (await dataOf(slots))[0]
    },
  })
