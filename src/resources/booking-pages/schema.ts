import { type Static, Type } from 'typebox'
import { OptionalInteger, OptionalText, Text, Timestamp, time } from '../../http/fields.ts'
import { bodyOf, dates, defineColumns, detailView, listView, type Values } from '../resource.ts'
import { authors } from '../shared-columns.ts'
import { type Availability, type DateOverrides, weekdays } from './availability.ts'

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
const Switch = Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })
const nullable = ['object', 'null']

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
  active: {
    shown: Type.Boolean({ description: 'Whether visitors can book.' }),
    taken: Switch,
    default: page_defaults.active,
    encoding: 'flag',
  },
  approval: {
    shown: Type.Boolean({
      description: `Whether a booking of a visitor is a request that a member must accept.`,
    }),
    taken: Switch,
    default: page_defaults.approval,
    encoding: 'flag',
  },
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

/** A free time. */
export const Slot = Type.Object({ start_at: Timestamp(), end_at: Timestamp() }, { title: 'Slot' })

export const SlotsQuery = Type.Object(
  {
    from: time('Slots that start at this time or later; default now.'),
    to: time('Slots that start before this time, at most 62 days after `from`; default 7 days after it.'),
  },
  { additionalProperties: false },
)
