import { type Static, Type } from 'typebox'
import {
  Body,
  OptionalInteger,
  OptionalText,
  OptionalTimestamp,
  Text,
  TextOrNull,
  Timestamp,
  Titled,
} from '../http/fields.ts'

const statuses = ['waiting', 'ok', 'failing'] as const

const minutes = {
  poll_minutes: { least: 5, most: 1440, usual: 15, description: 'Minutes between two polls.' },
  stale_after_minutes: {
    least: 15,
    most: 10_080,
    usual: 120,
    description: 'After so many minutes without a reading, the calendar is stale.',
  },
} as const
type Minutes = keyof typeof minutes
export const usual_minutes = (name: Minutes): number => minutes[name].usual
const shownMinutes = (name: Minutes) =>
  Type.Integer({ description: minutes[name].description, examples: [minutes[name].usual] })
const sentMinutes = (name: Minutes) => {
  const { least, most, usual, description } = minutes[name]
  return OptionalInteger(least, most, { description: `${description} Null: ${usual}.` })
}

/** A busy calendar as GET returns it: its address without the path, and never the password. */
export const BusyCalendar = Titled('BusyCalendar', {
  id: Type.String({ examples: ['busy_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  name: Type.String({ examples: ['Private'] }),
  url: Type.String({
    description: 'The address, which is a secret, without its path. In a body it keeps the stored address.',
    examples: ['https://calendar.example/***'],
  }),
  username: OptionalText(255),
  password: OptionalText(255, { description: '`***` if there is one. In a body it keeps the stored one.' }),
  time_zone: OptionalText(64, {
    description: "The zone of whole days and of times without a zone. Null: the person's, else UTC.",
    examples: ['Europe/Berlin'],
  }),
  poll_minutes: shownMinutes('poll_minutes'),
  stale_after_minutes: shownMinutes('stale_after_minutes'),
  status: Type.Unsafe<(typeof statuses)[number]>({
    type: 'string',
    enum: statuses,
    description: '`waiting` until the first poll ends, then what the last one came to.',
  }),
  last_read_at: OptionalTimestamp({ description: 'An answer that nothing changed counts.' }),
  last_attempt_at: OptionalTimestamp(),
  next_poll_at: Timestamp(),
  last_error: Type.Unsafe<{ code: string; message: string } | null>({
    type: ['object', 'null'],
    properties: {
      code: {
        type: 'string',
        description: 'A code of deliveries, `too_large` or `invalid_calendar`.',
        examples: ['http_error'],
      },
      message: { type: 'string' },
    },
    required: ['code', 'message'],
    description: 'Of the last poll, if it failed.',
  }),
  stale: Type.Boolean({ description: 'Never read, or not within `stale_after_minutes`.' }),
  busy_count: Type.Integer({ description: 'Its busy times, with those that touch as one.' }),
  skipped: Type.Array(Titled('SkippedEvent', { uid: TextOrNull(), reason: Type.String() }), {
    description: 'At most 20 events that could not be read. The other ones count.',
  }),
  skipped_count: Type.Integer(),
  created_at: Timestamp(),
})
export type BusyCalendar = Static<typeof BusyCalendar>

const read_only = Object.keys(BusyCalendar.properties)
const fields = {
  name: OptionalText(255, { description: 'Null: the host of the address.' }),
  url: Text(2048, {
    verbatim: true,
    description: 'Of an iCalendar file. `webcal:` counts as `https:`.',
    examples: ['https://calendar.example/ana/private.ics'],
  }),
  username: OptionalText(255, { verbatim: true }),
  password: OptionalText(255, { verbatim: true }),
  time_zone: OptionalText(64, { examples: ['Europe/Berlin'] }),
  poll_minutes: sentMinutes('poll_minutes'),
  stale_after_minutes: sentMinutes('stale_after_minutes'),
}
export const BusyCalendarCreate = Body(fields, read_only, ['url'])
export const BusyCalendarUpdate = Body(fields, read_only)
export type BusyCalendarFields = Static<typeof BusyCalendarUpdate>

export const BusyCalendarParams = Type.Object({ calendar_id: Type.String({ maxLength: 100 }) })
