import { type Static, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import {
  flag,
  Id,
  Listed,
  ListQuery,
  nullableObject,
  TextOrNull,
  Timestamp,
  Titled,
  time,
} from '../../http/fields.ts'
import { codesFilter, textsFilter } from '../../http/filter-parameters.ts'
import { cursor } from '../../http/lists.ts'

/** Fields of a record on one side of a change; null where there is nothing to tell. */
const Side = (description: string) =>
  nullableObject(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description }),
  )

export const AuditEntry = Titled('AuditEntry', {
  id: Id({ examples: [1024] }),
  occurred_at: Timestamp(),
  actor: NamedActor,
  action: Type.String({ description: 'The action, as a verb in the past tense.', examples: ['updated'] }),
  kind: Type.String({ examples: ['contacts'] }),
  record_id: Type.Unsafe<number | string>({
    type: ['integer', 'string'],
    description: 'A string for webhooks, deliveries and keys.',
    examples: [42],
  }),
  before: Side('The changed fields as GET showed them before.'),
  after: Side('The changed fields after.'),
  request_id: TextOrNull({
    description: 'The X-Request-Id of the answer. Null for a change without a request.',
  }),
  group_id: TextOrNull({
    description: 'Changes that belong together, such as those of a session of an assistant. Null for others.',
    'x-extension': true,
  }),
})
export type AuditEntry = Static<typeof AuditEntry>

const { before, after } = AuditEntry.properties
/** The list view: the same, but for long sides. */
export const ListedAuditEntry = Titled('ListedAuditEntry', {
  ...AuditEntry.properties,
  before: Listed(before),
  after: Listed(after),
  title: Type.Optional(
    TextOrNull({
      description:
        'With `details=true`: the present title of the record. Null if it is deleted, or of a kind without titles.',
      'x-extension': true,
    }),
  ),
})
export type ListedAuditEntry = Static<typeof ListedAuditEntry>

/** The filters of the log; `kinds` are what entries are about. */
export const auditQuery = (kinds: readonly string[]) =>
  ListQuery({
    cursor,
    kind: codesFilter('kind', kinds),
    record_id: textsFilter('record_id', { about: 'The record. Needs one kind.' }),
    action: textsFilter('action', { about: 'Such as created, updated or deleted.' }),
    actor_id: textsFilter('actor_id', {
      about: 'The id of a key or a person. null: the service.',
      nullable: true,
    }),
    from: time('At or after this time.'),
    to: time('At or before this time.'),
    details: flag('true: each entry with the present title of its record.'),
  })
