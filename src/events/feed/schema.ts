import { Type } from 'typebox'
import { invalid } from '../../errors.ts'
import { Exact, flag, MaybeText, TextOrNull, Timestamp, Titled } from '../../http/fields.ts'
import { codesFilter } from '../../http/filter-parameters.ts'
import { emptyCursor, first_cursor } from '../../http/first-cursor.ts'
import { origin, sequence } from '../../http/openapi/events.ts'

/** An event as webhooks get it, without webhook_id: the same text. */
const FeedEvent = Titled('Event', {
  id: Type.String({ description: 'The id of the event, the same in webhooks, feed and stream.' }),
  event: Type.String({ description: 'The name of the event.', examples: ['deal.won'] }),
  timestamp: Timestamp({ description: 'The time of the change.' }),
  sequence: Type.Optional(Type.Unsafe<number>(sequence)),
  data: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: "The event's fields, as in its webhook.",
  }),
  changed_fields: Type.Optional(
    Type.Array(Type.String(), { description: 'For updates: the top-level fields that changed.' }),
  ),
  previous: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      additionalProperties: true,
      description: 'For updates: the old values of these fields.',
    }),
  ),
  actor: Type.Optional(Type.Unsafe<object>(origin.actor)),
  source: Type.Optional(Type.Unsafe<string>(origin.source)),
  api_version: Type.Optional(Type.Unsafe<string>(origin.api_version)),
})

export const EventList = Type.Object({
  success: Type.Literal(true),
  data: Type.Array(FeedEvent),
  meta: Type.Object({
    per_page: Type.Integer(),
    next_cursor: TextOrNull({
      description:
        'The cursor of the next request, also if there are no more events yet. Null at the end of an answer with newest first.',
    }),
    has_more: Type.Boolean({ description: 'Whether there are more events now.' }),
  }),
})

const AnyObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true })
const EventType = Titled('EventType', {
  name: Type.String({ examples: ['deal.won'] }),
  description: Type.String({ examples: ['A deal was won.'] }),
  schema: Type.Unsafe<object>({ ...AnyObject, description: 'The JSON Schema of the payload.' }),
  example: Type.Unsafe<object>({
    ...AnyObject,
    description: 'An example of the payload, as a webhook gets it.',
  }),
})

export const EventTypeList = Type.Object({ success: Type.Literal(true), data: Type.Array(EventType) })

const cursor = (description: string) => MaybeText({ maxLength: 100, description })
export const EventsQuery = (names: readonly string[]) =>
  Exact({
    cursor: cursor(
      'The `next_cursor` of an answer before, or the id of a frame of the stream; without one, or with `start`, from the oldest event that is kept.',
    ),
    per_page: Type.Integer({ minimum: 1, default: 25, description: 'A value above 100 counts as 100.' }),
    event: codesFilter('event', names),
    sort: Type.Optional(
      Type.Unsafe<'timestamp' | '-timestamp'>({
        type: 'string',
        enum: ['timestamp', '-timestamp'],
        description:
          'timestamp, the default: oldest first, to follow the feed. -timestamp: newest first, to read older events.',
      }),
    ),
  })

export const StreamQuery = (names: readonly string[]) =>
  Exact({
    cursor: cursor('As the header `Last-Event-ID`, which counts when both are there.'),
    event: codesFilter('event', names),
    changes: flag(
      'true: also sends frames `changed`, without an id, with the kinds of changed records. Changes without an event are included, and `notifications` for those of the person who follows.',
    ),
  })

/**
 * The seq of a cursor; null without one, and for the first page. Throws 422 for an invalid cursor, and for a seq above the last
 * one: the database was restored from a backup that is older than the cursor.
 */
export function seqOf(cursor: string | undefined, last: number): number | null {
  if (cursor === undefined || cursor === first_cursor) return null
  if (cursor === '') throw emptyCursor()
  if (/^\d{1,15}$/.test(cursor) && Number(cursor) <= last) return Number(cursor)
  throw invalid([
    {
      field: 'cursor',
      code: 'invalid_cursor',
      message: 'cursor must be a next_cursor of the events, or the id of a frame of their stream.',
    },
  ])
}
