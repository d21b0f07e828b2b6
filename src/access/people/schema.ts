import { type Static, type TSchema, Type } from 'typebox'
import {
  Body,
  Email,
  Exact,
  flag,
  Id,
  MaybeText,
  OptionalInteger,
  OptionalText,
  Text,
  Timestamp,
  Titled,
} from '../../http/fields.ts'
import { max_email_characters } from '../../http/formats.ts'
import { type MailPreferences, type MailSwitch, mail_switches } from '../../mails/preferences.ts'
import { type Role, roles } from './roles.ts'

const RoleField = (options = {}) => Type.Unsafe<Role>({ type: 'string', enum: roles, ...options })
const UserId = (options = {}) =>
  Type.String({ examples: ['usr_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'], ...options })
const email = Type.String({ examples: ['ada@example.com'] })
/** Never trimmed. The routes that set a password check its length. */
export const Password = (options = {}) => Type.String({ verbatim: true, maxLength: 200, ...options })
const RequiredEmail = () => Type.Unsafe<string>({ ...Email(), type: 'string', minLength: 1 })
/** The token of a link. */
export const Token = () => Type.String({ minLength: 1, maxLength: 200 })

export const languages = ['en', 'de'] as const
type Language = (typeof languages)[number]
const OptionalZone = () =>
  OptionalText(64, { description: 'An IANA time zone.', examples: ['Europe/Berlin'] })
const OptionalLanguage = () =>
  Type.Unsafe<Language | null>({ type: ['string', 'null'], enum: [...languages, null] })
export const Currency = (options = {}) =>
  Type.String({ minLength: 1, maxLength: 3, description: 'ISO 4217.', examples: ['EUR'], ...options })

const person = {
  id: UserId(),
  name: Type.String({ examples: ['Ada Lovelace'] }),
  email,
  time_zone: OptionalZone(),
  language: OptionalLanguage(),
}
const switches = <T extends TSchema>(each: T) =>
  Object.fromEntries(mail_switches.map((name) => [name, each])) as Record<MailSwitch, T>

const wall_clock = {
  description: 'HH:MM on the wall clock of the time zone of the person.',
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
  examples: ['07:00'],
}

export const Profile = Titled('Profile', {
  ...person,
  mail_preferences: Type.Object(
    { ...switches(Type.Boolean()), daily_digest_at: Type.String(wall_clock) },
    { title: 'MailPreferences', description: 'Which mails the person wants.', 'x-extension': true },
  ),
})
export type Profile = Static<typeof Profile>

/** The signed-in person, the workspace and the scopes there. */
export const SignedIn = Titled('SignedIn', {
  user: Titled('SignedInPerson', person),
  workspace: Type.Object({
    id: Id(),
    name: Type.String({ examples: ['Acme'] }),
    currency: Currency(),
    deal_stages: Type.Array(
      Type.Object({
        stage: Type.String({ examples: ['proposal'] }),
        label: OptionalText(60),
        colour: OptionalText(7),
        probability: OptionalInteger(0, 100),
        stale_after_days: OptionalInteger(1, 3650),
      }),
      {
        description:
          'What the workspace has of its own, in its order; null or an empty list for what is built in. `/workspace/stages` has all of it.',
        'x-extension': true,
      },
    ),
    lost_reasons: Type.Array(Type.String(), { 'x-extension': true }),
    contact_stages: Type.Array(Type.String(), { 'x-extension': true }),
  }),
  role: RoleField(),
  scopes: Type.Array(Type.String(), {
    description: 'The scopes of the role in this workspace.',
    examples: [['contacts:read']],
  }),
  workspaces: Type.Array(
    Type.Object({ id: Id(), name: Type.String({ examples: ['Acme'] }), role: RoleField() }),
  ),
  session_id: Type.String({ examples: ['ses_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  time_zone_offsets: Type.Array(
    Type.Object({
      from: Timestamp({ examples: ['2026-10-25T01:00:00.000Z'] }),
      utc_offset_minutes: Type.Integer({ examples: [60] }),
    }),
    {
      description:
        "The offsets of the person's time zone, from the beginning of last year to two years ahead, by the zone data of the server. A browser may have older data.",
    },
  ),
})
export type SignedIn = Static<typeof SignedIn>

export const SetupState = Type.Object({
  needed: Type.Boolean({ description: 'True while there is no account.' }),
  mail: Type.Optional(Type.Boolean({ description: 'True if the service sends mails.', 'x-extension': true })),
})
export const SetupBody = Body(
  {
    token: Token(),
    name: Text(255),
    email: RequiredEmail(),
    password: Password(),
    workspace_name: Text(255),
    time_zone: OptionalZone(),
    language: OptionalLanguage(),
    currency: Currency(),
  },
  [],
  ['token', 'name', 'email', 'password', 'workspace_name'],
)
export const SignInBody = Body(
  { email: Type.String({ minLength: 1, maxLength: max_email_characters }), password: Password() },
  [],
  ['email', 'password'],
)
export const SwitchBody = Body({ workspace_id: Id() }, Object.keys(SignedIn.properties))
export const ResetRequestBody = Body(
  { email: Type.String({ minLength: 1, maxLength: max_email_characters }) },
  [],
  ['email'],
)
export const ResetRequested = Titled('PasswordResetRequested', {
  success: Type.Literal(true),
  message: Type.String({ description: 'The same for each address.' }),
})
export const ResetBody = Body({ token: Token(), password: Password() }, [], ['token', 'password'])

export const Session = Titled('Session', {
  id: Type.String({ examples: ['ses_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  current: Type.Boolean({ description: 'True for the session of this request.' }),
  created_at: Timestamp(),
  last_used_at: Timestamp({ description: 'The last use, to the minute.' }),
  expires_at: Timestamp({ description: 'The end of the session if it is not used before.' }),
  user_agent: OptionalText(500),
  address: OptionalText(100),
})
export const SessionParams = Type.Object({ session_id: Type.String() })

export const ProfileBody = Body(
  {
    name: Text(255),
    email: RequiredEmail(),
    time_zone: OptionalZone(),
    language: OptionalLanguage(),
    mail_preferences: Type.Unsafe<{ [Name in keyof MailPreferences]?: MailPreferences[Name] | null }>({
      type: 'object',
      properties: {
        ...switches(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })),
        daily_digest_at: Type.Unsafe<string | null>({ ...wall_clock, type: ['string', 'null'] }),
      },
      additionalProperties: false,
      description: 'Merged key by key. Null sets the default.',
      'x-extension': true,
    }),
    current_password: Password({ description: 'Needed to change the e-mail.' }),
  },
  ['id'],
)
export const PasswordBody = Body(
  { current_password: Password(), new_password: Password() },
  [],
  ['current_password', 'new_password'],
)

export const DeletionBody = Body({ current_password: Password() }, [], ['current_password'])

const revokes =
  'Also revokes the live API keys that the person created in this workspace, and the keys created by these. Needs keys:write.'

export const Member = Titled('Member', {
  id: UserId({ description: 'The password of the person.' }),
  name: Type.String({ examples: ['Ada Lovelace'] }),
  email,
  role: RoleField(),
  created_at: Timestamp({ description: 'Since when.' }),
  former_names: Type.Array(Type.String(), {
    description:
      'Names that the member had in this workspace before, by which texts mention them: the newest first, at most 5, as long as the audit log keeps them.',
    examples: [['Ada Byron']],
  }),
})
export type Member = Static<typeof Member>
export const MemberParams = Type.Object({ user_id: Type.String() })
export const MemberBody = Body(
  {
    role: RoleField(),
    revoke_keys: Type.Boolean({ description: `true: ${revokes} Without it they stay.` }),
  },
  ['id', 'name', 'email', 'created_at', 'former_names'],
)
export const RemovalQuery = Exact({
  revoke_keys: flag(`true: ${revokes} Without it they stay.`),
})

const invitation = {
  id: Type.String({ examples: ['inv_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  email,
  role: RoleField(),
  created_at: Timestamp(),
  expires_at: Timestamp(),
}
export const Invitation = Titled('Invitation', invitation)
export type Invitation = Static<typeof Invitation>
export const InvitationCreated = Titled('InvitationCreated', {
  ...invitation,
  url_path: Type.String({
    description: 'The token of the link to hand over. It is shown only in this answer, and in the mail.',
    examples: ['/invitation#Jx0'],
  }),
  url: MaybeText({
    description: 'The whole link, if `PUBLIC_URL` is set.',
    examples: ['https://crm.example/invitation#Jx0'],
    'x-extension': true,
  }),
  mail_id: OptionalText(64, {
    description: 'The mail with the link; null without one.',
    'x-extension': true,
  }),
})
export const InvitationParams = Type.Object({ invitation_id: Type.String() })
export const InvitationBody = Body(
  {
    email: RequiredEmail(),
    role: RoleField(),
    send_mail: Type.Boolean({
      description: 'false: no mail is sent, and you hand over the link. By default true.',
      'x-extension': true,
    }),
  },
  [],
  ['email', 'role'],
)
export const LookUpBody = Body({ token: Token() }, [], ['token'])
export const Invited = Type.Object({
  workspace_name: Type.String({ examples: ['Acme'] }),
  email,
  role: RoleField(),
  has_account: Type.Boolean({
    description: 'Whether an account with this e-mail exists. It may be yours, or somebody else’s.',
  }),
})
export const AcceptBody = Body(
  {
    token: Token(),
    name: Text(255),
    password: Password(),
    new_account: Type.Boolean({
      description:
        'true: create a new account with this password, even if another account has the same e-mail. Otherwise, an e-mail with an account needs the password of that account.',
    }),
    time_zone: OptionalZone(),
    language: OptionalLanguage(),
  },
  [],
  ['token', 'password'],
)
