import { type Static, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import { Exact, flag, Id, OptionalId, TextOrNull, Timestamp, Titled, time } from '../../http/fields.ts'
import { cursor } from '../../http/lists.ts'

const code = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: values, description, examples: [values[0]] })

/** A notification of a member: codes and references. The reader writes the sentence in their language. */
export const Notification = Titled('Notification', {
  id: Id({ examples: [17] }),
  kind: code(['assigned', 'mentioned', 'webhook_failed', 'import_ended', 'mail_failed'], 'The cause.'),
  record: Type.Object(
    {
      kind: Type.String({ description: 'As in the audit log.', examples: ['deals'] }),
      id: Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        description: 'A string for webhooks and imports.',
        examples: [42],
      }),
      title: TextOrNull({
        description:
          'The present name: of a webhook without one its URL, of an import its file. Null if the record is in the trash or was removed.',
        examples: ['Website relaunch'],
      }),
    },
    { description: 'The record, the webhook or the import. Of several records, the first one.' },
  ),
  note_id: OptionalId({
    description: 'The note that mentions you. Null if the text of an activity does, and for other kinds.',
  }),
  records: Type.Integer({
    description: 'How many records one request or import assigned, or how often the webhook failed.',
    examples: [1],
  }),
  outcome: TextOrNull({
    enum: ['succeeded', 'failed', 'cancelled', null],
    description: 'How the import ended; null for other kinds.',
  }),
  actor: NamedActor,
  occurred_at: Timestamp(),
  read_at: TextOrNull({ format: 'date-time' }),
})
export type Notification = Static<typeof Notification>

const Unread = Type.Integer({ description: 'The number of unread notifications.', examples: [3] })

export const NotificationList = Type.Object({
  success: Type.Literal(true),
  data: Type.Array(Notification),
  meta: Type.Object({
    per_page: Type.Integer(),
    next_cursor: TextOrNull(),
    unread: Unread,
  }),
})

export const NotificationsQuery = Exact({
  per_page: Type.Integer({ minimum: 1, default: 25, description: 'A value above 100 counts as 100.' }),
  cursor,
  unread: flag('true: only unread ones; false: only read ones.'),
})

export const ReadBody = Type.Unsafe<{ ids?: number[]; all?: boolean; before?: string }>({
  ...Exact({
    ids: Type.Optional(
      Type.Array(Id(), {
        minItems: 1,
        maxItems: 100,
        description: 'Unknown ids and those of other people are ignored.',
        examples: [[17]],
      }),
    ),
    all: Type.Optional(Type.Boolean({ description: 'true in place of ids: all of them.' })),
    before: time('With all: only those at or before this time.'),
  }),
})

export const ReadAnswer = Titled('ReadNotifications', {
  read: Type.Integer({ description: 'How many were unread.' }),
  unread: Unread,
})
