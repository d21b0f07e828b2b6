/** A kind of mails: the right to read it in the log, and its place among others. */
type Kind = {
  /** The scope that reads its cause. */
  scope: string
  /** The lowest is sent first. */
  urgency: 0 | 1 | 2
  /** It is made anew in place of a resend. */
  is_made_anew?: true
}

const kinds = {
  password_reset: { scope: 'members:write', urgency: 0, is_made_anew: true },
  invitation: { scope: 'members:write', urgency: 0, is_made_anew: true },
  new_sign_in: { scope: 'members:write', urgency: 0 },
  booking_requested: { scope: 'appointments:read', urgency: 1 },
  booking_confirmed: { scope: 'appointments:read', urgency: 1 },
  booking_declined: { scope: 'appointments:read', urgency: 1 },
  booking_moved: { scope: 'appointments:read', urgency: 1 },
  booking_cancelled: { scope: 'appointments:read', urgency: 1 },
  booking_reminder: { scope: 'appointments:read', urgency: 2 },
  assigned: { scope: 'members:read', urgency: 2 },
  mentioned: { scope: 'members:read', urgency: 2 },
  webhook_failed: { scope: 'webhooks:read', urgency: 2 },
  import_ended: { scope: 'imports:read', urgency: 2 },
  daily_digest: { scope: 'members:read', urgency: 2 },
  test: { scope: 'members:read', urgency: 0 },
} satisfies Record<string, Kind>

export type MailKind = keyof typeof kinds
/** The kinds of mails about a change of a booking. */
export type BookingKind = Exclude<Extract<MailKind, `booking_${string}`>, 'booking_reminder'>
export const mail_kinds = Object.keys(kinds) as MailKind[]

/** The kinds of mails about a change of a booking: the last one says how the booking is. */
export const booking_kinds: readonly string[] = mail_kinds.filter(
  (kind) => kind.startsWith('booking_') && kind !== 'booking_reminder',
)

export const kindOf = (kind: MailKind): Kind => kinds[kind]
