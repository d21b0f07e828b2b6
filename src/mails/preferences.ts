/** Kinds of mails that a person can switch off: those of bookings together, others by the kind of the mail. */
export const mail_switches = [
  'bookings',
  'assigned',
  'mentioned',
  'webhook_failed',
  'import_ended',
  'daily_digest',
] as const
export type MailSwitch = (typeof mail_switches)[number]
/** `daily_digest_at` is HH:MM on the wall clock of the person. */
export type MailPreferences = Record<MailSwitch, boolean> & { daily_digest_at: string }

export const default_preferences: MailPreferences = {
  bookings: true,
  assigned: true,
  mentioned: true,
  webhook_failed: true,
  import_ended: true,
  daily_digest: false,
  daily_digest_at: '07:00',
}

/** The preferences of a person, from the stored ones that differ from the defaults. */
export const preferencesOf = (stored: string | null): MailPreferences => ({
  ...default_preferences,
  ...(stored === null ? {} : (JSON.parse(stored) as Partial<MailPreferences>)),
})

/** The preferences to store: null for the defaults. */
export function storedPreferences(preferences: MailPreferences): string | null {
  const own = Object.entries(preferences).filter(
    ([name, value]) => value !== default_preferences[name as keyof MailPreferences],
  )
  return own.length ? JSON.stringify(Object.fromEntries(own)) : null
}

/** The preferences with those that are sent: null sets the default. */
export function mergedPreferences(
  present: MailPreferences,
  sent: { [Name in keyof MailPreferences]?: MailPreferences[Name] | null | undefined },
): MailPreferences {
  const wanted = Object.entries(sent)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, value ?? default_preferences[name as keyof MailPreferences]])
  return { ...present, ...Object.fromEntries(wanted) }
}
