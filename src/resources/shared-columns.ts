import { type Static, Type } from 'typebox'
import { actorOf } from '../events/actors.ts'
import {
  CustomFields,
  CustomFieldsInput,
  Id,
  nullableObject,
  OptionalTimestamp,
  Tags,
  TagsInput,
  TextOrNull,
  Titled,
} from '../http/fields.ts'
import { defineColumns } from './resource.ts'

// Columns that many resources have. Descriptions choose among them.

// Extensions of resources that are in the interface.
const extension = { 'x-extension': true }

/** The schema of a contact by its id and name, in a record that refers to it. */
export const ContactName = (title: string) =>
  Titled(title, {
    id: Id({ examples: [3] }),
    first_name: Type.String({ examples: ['Ana'] }),
    last_name: Type.String({ examples: ['Ruiz'] }),
  })

/** The person who is responsible for a record. A person who creates it becomes the owner if the body names none. */
export const owner = defineColumns({
  owner_id: {
    shown: TextOrNull({
      minLength: 1,
      maxLength: 64,
      description: 'A member of the workspace. By default the person who creates the record; null for a key.',
      examples: ['usr_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'],
      ...extension,
    }),
    member: true,
    counted: true,
    personal: false,
  },
})

/** The tags of a record. */
export const tags = defineColumns({
  tags: {
    shown: Tags({ examples: [['partner']], ...extension }),
    taken: TagsInput(),
    encoding: 'json',
    default: [],
    personal: true,
  },
})

/** Values of keys that the workspace chooses. */
export const custom_fields = defineColumns({
  custom_fields: {
    shown: CustomFields({ examples: [{ region: 'EMEA' }], ...extension }),
    taken: CustomFieldsInput(),
    listed: { up_to_bytes: 8 * 1024 },
    encoding: 'json',
    default: {},
    personal: true,
  },
})

/** Fields of contacts and companies that follow from activities and deals. Triggers of the database keep them. */
export const facts = defineColumns({
  last_contacted_at: {
    shown: OptionalTimestamp({
      description: 'When the last call, e-mail or meeting with it was completed.',
      ...extension,
    }),
    taken: false,
    kept: true,
    personal: false,
  },
  next_activity_at: {
    shown: OptionalTimestamp({ description: 'When its first open activity is due.', ...extension }),
    taken: false,
    kept: true,
    personal: false,
  },
  open_deals_value: {
    shown: Type.Number({
      description: 'The sum of the values of its open deals.',
      examples: [12500.5],
      ...extension,
    }),
    taken: false,
    kept: true,
    default: 0,
    encoding: 'ten_thousandths',
    stored: 'open_deals_units',
  },
})

const author_kinds = ['person', 'key', 'visitor', 'service'] as const

/** The author of a record. The command line and jobs are the service. */
export const Author = Titled('Author', {
  kind: Type.Unsafe<(typeof author_kinds)[number]>({ type: 'string', enum: author_kinds }),
  id: TextOrNull({
    description: 'The id of a person or a key.',
  }),
  name: TextOrNull(),
})
export type Author = Static<typeof Author>

const author = (description: string) => ({
  shown: nullableObject({
    ...Author,
    description,
    examples: [{ kind: 'key', id: 'key_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b', name: 'Website form' }],
    ...extension,
  } as typeof Author),
  taken: false as const,
  author: true as const,
  personal: false,
})

/** The authors of a record: its maker, and the last person who changed it. Null on records that version 0.1 wrote. */
export const authors = defineColumns({
  created_by: author('Who made the record. Null if version 0.1 made it.'),
  updated_by: author('Who changed it last. Null if version 0.1 did.'),
})

/** The same, in the detail view only. */
export const unlisted_authors = defineColumns({
  created_by: { ...authors.created_by, listed: false },
  updated_by: { ...authors.updated_by, listed: false },
})

/** An author for answers, from what the column stores. */
export function authorOf(stored: string | null, name: string | null): Author | null {
  if (stored === null) return null
  const { kind, id } = actorOf(stored)
  return { kind: kind === 'command_line' ? 'service' : kind, id, name }
}
