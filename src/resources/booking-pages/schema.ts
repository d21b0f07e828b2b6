import { type Static, type TObject, Type } from 'typebox'
import {
  Exact,
  flag,
  Id,
  MaybeText,
  nullableObject,
  OptionalInteger,
  OptionalText,
  Text,
  TextOrNull,
  Timestamp,
  Titled,
  time,
} from '../../http/fields.ts'
import { bodyOf, dates, defineColumns, detailView, listView, type Values } from '../resource.ts'
import { authors } from '../shared-columns.ts'
import { type Availability, type DateOverrides, weekdays } from './availability.ts'
import { type Question, questions } from './questions.ts'

const assignments = ['fixed', 'round_robin', 'collective'] as const
type Assignment = (typeof assignments)[number]
const stale_calendars = ['offer', 'stop'] as const
type StaleCalendars = (typeof stale_calendars)[number]
/** A member who receives visitors. Answers add since when one of their calendars is stale. */
export type Host = { user_id: string; weight: number; stale_since?: string | null }

const span = (from: string, to: string) => ({ from, to })
const working_day = [span('09:00', '17:00')]

/** The defaults of a booking page. Null in a body resets a field to its default. */
const page_defaults = {
  description: null as string | null,
  duration_minutes: 30,
  buffer_minutes: 0,
  minimum_notice_minutes: 240,
  horizon_days: 60,
  open_bookings_per_email: 3,
  bookings_per_address_per_day: 10,
  bookings_per_hour: 30,
  approval: false,
  availability: Object.fromEntries(weekdays.slice(0, 5).map((day) => [day, working_day])) as Availability,
  date_overrides: {} as DateOverrides,
  active: true,
  hosts: [] as Host[],
  assignment: 'fixed' as Assignment,
  stale_calendars: 'offer' as StaleCalendars,
  durations: null as number[] | null,
  reminders_minutes: [1440],
  embed_origins: [] as string[],
  questions: [] as Question[],
  links_in_events: false,
}

// Enough for any page, and few enough that a search for slots stays fast.
const max_intervals = 48
const max_overrides = 1000

const Intervals = {
  type: 'array',
  maxItems: max_intervals,
  items: {
    type: 'object',
    properties: {
      from: { type: 'string', description: 'HH:MM' },
      to: { type: 'string', description: 'HH:MM, later than from; at most 24:00' },
    },
  },
}
const Week = (type: unknown) =>
  Type.Unsafe<Availability>({
    type,
    properties: Object.fromEntries(weekdays.map((day) => [day, Intervals])),
    description:
      "Open hours of each weekday, on the wall clock of the page's zone. A day left out is closed.",
    examples: [
      { monday: [span('09:00', '12:00'), span('13:00', '17:00')], friday: [span('09:00', '12:00')] },
    ],
  })
const Days = (type: unknown) =>
  Type.Unsafe<DateOverrides>({
    type,
    maxProperties: max_overrides,
    additionalProperties: Intervals,
    description: 'Open hours of single days, in place of those of the weekday. An empty list closes the day.',
    examples: [{ '2026-12-24': [span('09:00', '12:00')], '2026-12-25': [] }],
  })

const numbers = {
  duration_minutes: { minimum: 5, maximum: 1440, examples: [30] },
  buffer_minutes: {
    minimum: 0,
    maximum: 1440,
    examples: [10],
    description: 'The minutes that stay free before and after each appointment.',
  },
  minimum_notice_minutes: {
    minimum: 0,
    maximum: 525_600,
    examples: [240],
    description: 'The least time between a booking and the start of its slot.',
  },
  horizon_days: {
    minimum: 1,
    maximum: 730,
    examples: [60],
    description: 'The number of days after today, in the zone of the page, for which slots are offered.',
  },
  open_bookings_per_email: {
    minimum: 1,
    maximum: 1000,
    examples: [3],
    description: 'The most future bookings of visitors with one e-mail address.',
  },
  bookings_per_address_per_day: {
    minimum: 1,
    maximum: 10_000,
    examples: [10],
    description: 'The most bookings of visitors from one network address within 24 hours.',
  },
  bookings_per_hour: {
    minimum: 1,
    maximum: 10_000,
    examples: [30],
    description: 'The most bookings of all visitors within an hour.',
  },
}

/** A number with a default. Null resets the field to it. */
const withDefault = <N extends keyof typeof numbers>(name: N) => {
  const { minimum, maximum, ...options } = numbers[name]
  return {
    shown: Type.Integer(numbers[name]),
    taken: OptionalInteger(minimum, maximum, options),
    default: page_defaults[name],
  } as const
}
/** A switch with a default. Null resets the field to it. */
const switchOf = (name: 'active' | 'approval' | 'links_in_events', description: string) =>
  ({
    shown: Type.Boolean({ description }),
    taken: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }),
    default: page_defaults[name],
    encoding: 'flag',
  }) as const
/** A list with a default. Null resets the field to it. */
const listOf = <T>(value: T[], items: object, { max, description }: { max: number; description: string }) =>
  ({
    shown: Type.Unsafe<T[]>({ type: 'array', items, description }),
    taken: Type.Unsafe<T[] | null>({ type: ['array', 'null'], maxItems: max, items }),
    default: value,
    encoding: 'json',
    personal: false,
  }) as const
const nullable = ['object', 'null']
const oneOf = <T>(values: readonly T[], more: object) => ({
  shown: Type.Unsafe<T>({ type: 'string', enum: values, ...more }),
  taken: Type.Unsafe<T | null>({ type: ['string', 'null'], enum: [...values, null], ...more }),
})

const max_hosts = 50
const user_id = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  examples: ['usr_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'],
}
const host_fields = {
  user_id,
  weight: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'The share of bookings, with round_robin.',
  },
}
const stale_since = {
  type: ['string', 'null'],
  description: 'Since when a calendar of the host is stale; null: fresh.',
}
const hosts = {
  shown: Type.Unsafe<Host[]>({
    type: 'array',
    items: {
      title: 'BookingHost',
      type: 'object',
      properties: { ...host_fields, stale_since },
      required: ['user_id', 'weight', 'stale_since'],
    },
    description: 'The members who receive visitors. Empty: the page is one calendar.',
  }),
  taken: Type.Unsafe<(Pick<Host, 'user_id'> & Partial<Host>)[] | null>({
    type: ['array', 'null'],
    maxItems: max_hosts,
    items: {
      type: 'object',
      properties: {
        ...host_fields,
        stale_since: { readOnly: true, description: 'Accepted and ignored.' },
      },
      required: ['user_id'],
      additionalProperties: false,
    },
  }),
}

const slug_pattern = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'
export const max_slug_length = 64
const slug_regexp = new RegExp(slug_pattern)
/** Whether a text can be the slug of a page. */
export const isSlug = (text: string): boolean => text.length <= max_slug_length && slug_regexp.test(text)

export const columns = defineColumns({
  slug: {
    shown: Text(max_slug_length, {
      pattern: slug_pattern,
      description: 'The public address is /book/{slug}. Lower-case letters, digits and hyphens inside.',
      examples: ['product-demo'],
    }),
    required: true,
    personal: false,
  },
  title: { shown: Text(255, { examples: ['Product demo'] }), required: true, personal: true },
  description: { shown: OptionalText(65_535), listed: { up_to_bytes: 8 * 1024 }, personal: true },
  duration_minutes: withDefault('duration_minutes'),
  buffer_minutes: withDefault('buffer_minutes'),
  minimum_notice_minutes: withDefault('minimum_notice_minutes'),
  horizon_days: withDefault('horizon_days'),
  open_bookings_per_email: withDefault('open_bookings_per_email'),
  bookings_per_address_per_day: withDefault('bookings_per_address_per_day'),
  bookings_per_hour: withDefault('bookings_per_hour'),
  time_zone: {
    shown: Text(64, { description: 'IANA name.', examples: ['Europe/Berlin'] }),
    required: true,
    personal: false,
  },
  availability: {
    shown: Week('object'),
    taken: Week(nullable),
    default: page_defaults.availability,
    listed: { up_to_bytes: 8 * 1024 },
    encoding: 'json',
    personal: false,
  },
  date_overrides: {
    shown: Days('object'),
    taken: Days(nullable),
    default: page_defaults.date_overrides,
    listed: { up_to_bytes: 8 * 1024 },
    encoding: 'json',
    personal: false,
  },
  active: switchOf('active', 'Whether visitors can book.'),
  approval: switchOf('approval', 'Whether a booking of a visitor is a request that a member must accept.'),
  hosts: { ...hosts, default: page_defaults.hosts, encoding: 'json', personal: false },
  assignment: {
    ...oneOf(assignments, {
      description:
        'fixed: one host. round_robin: the free host with the fewest bookings for their weight. collective: all hosts.',
    }),
    default: page_defaults.assignment,
    personal: false,
  },
  stale_calendars: {
    ...oneOf(stale_calendars, { description: 'stop: a host with a stale calendar counts as busy.' }),
    default: page_defaults.stale_calendars,
    personal: false,
  },
  durations: {
    shown: Type.Unsafe<number[] | null>({
      type: ['array', 'null'],
      minItems: 1,
      maxItems: 10,
      items: { type: 'integer', minimum: 5, maximum: 1440 },
      description:
        'The minutes that a visitor may choose, duration_minutes among them. Null: that one alone.',
      examples: [[30, 60]],
    }),
    default: page_defaults.durations,
    encoding: 'json',
    personal: false,
  },
  reminders_minutes: listOf(
    page_defaults.reminders_minutes,
    { type: 'integer', minimum: 5, maximum: 43_200 },
    { max: 5, description: 'The minutes before the start at which the visitor gets a mail. Empty: none.' },
  ),
  embed_origins: listOf(
    page_defaults.embed_origins,
    { type: 'string', maxLength: 300, examples: ['https://www.example.com'] },
    { max: 20, description: 'The origins of pages that may show this page in a frame.' },
  ),
  questions: {
    ...questions,
    default: page_defaults.questions,
    listed: { up_to_bytes: 8 * 1024 },
    encoding: 'json',
    personal: true,
  },
  links_in_events: switchOf(
    'links_in_events',
    'Whether events of bookings have `cancel_url` and `reschedule_url`, with which anybody can cancel and move them. To set it, you need `appointments:write`.',
  ),
  ...authors,
  ...dates,
})

export const BookingPage = detailView('BookingPage', columns, 2)
export type BookingPage = Static<typeof BookingPage>
export const ListedBookingPage = listView('ListedBookingPage', columns, 2)

export type PageFields = Values<typeof columns>

export const BookingPageCreate = bodyOf(columns, 'create')
export const BookingPageUpdate = bodyOf(columns, 'update')
export type BookingPageBody = Static<typeof BookingPageUpdate>

/** The minutes that a page offers. */
const durationsOf = ({ durations, duration_minutes }: BookingPage) => durations ?? [duration_minutes]

/** The page with a duration that it offers; null if it does not offer it. */
export const pageWith = (page: BookingPage, duration_minutes: number): BookingPage | null =>
  durationsOf(page).includes(duration_minutes) ? { ...page, duration_minutes } : null

/** A free time. */
export const Slot = Titled('Slot', { start_at: Timestamp(), end_at: Timestamp() })

const slot_codes = [
  'closed',
  'date_override',
  'not_a_start',
  'notice',
  'horizon',
  'appointment',
  'buffer',
  'busy_calendar',
  'stale_calendar',
  'no_host',
] as const
const nullableText = (description: string) => TextOrNull({ description })

/** Why a time is not free, or a host is not. */
export const SlotReason = Titled('SlotReason', {
  code: Type.Unsafe<(typeof slot_codes)[number]>({ type: 'string', enum: slot_codes }),
  user_id: nullableText('The host who is busy; null: the page.'),
  record: nullableObject(
    Titled('SlotRecord', { kind: Type.String({ examples: ['appointments'] }), id: Id() }),
  ),
  calendar_id: nullableText('The busy calendar.'),
  from: nullableText('When that which takes the time begins.'),
  to: nullableText('When it ends.'),
})
export type SlotReason = Static<typeof SlotReason>

const explained = {
  free: Type.Boolean({ description: 'With `explain`: whether the page offers it.' }),
  host_ids: Type.Array(Type.String(), { description: 'With `explain`: the hosts who are free.' }),
  reasons: Type.Array(SlotReason, {
    description: 'With `explain`: why the time, or one of the hosts, is not free.',
  }),
}
export type ExplainedSlot = Static<typeof Slot> & Static<TObject<typeof explained>>
/** A free time, or with `explain` any time with its reasons. */
export const SlotOfPage = Titled('SlotOfPage', {
  ...Slot.properties,
  free: Type.Optional(explained.free),
  host_ids: Type.Optional(explained.host_ids),
  reasons: Type.Optional(explained.reasons),
})

export const SlotsQuery = Exact({
  duration: MaybeText({
    pattern: '^\\d{1,4}$',
    description: 'The minutes of a slot, one of `durations`. By default `duration_minutes`.',
  }),
  from: time('Slots that start at this time or later; default now.'),
  to: time('Slots that start before this time, at most 62 days after `from`; default 7 days after it.'),
})

/** The query of the slots for members. The public list takes no reasons. */
export const PageSlotsQuery = Exact({
  ...SlotsQuery.properties,
  explain: flag(
    'true: each start within opening hours, free or not, with the reasons. `to` is at most 14 days after `from`.',
  ),
  at: time('With `explain`: this time alone, whatever it is.'),
})
