/** Kinds of mails that a person can switch off: those of bookings together, others by the kind of the notification. */
export const mail_switches = ['bookings', 'assigned', 'mentioned', 'webhook_failed', 'import_ended'] as const
export type MailSwitch = (typeof mail_switches)[number]
export type MailPreferences = Record<MailSwitch, boolean>

/** The preferences of a person, from the stored ones that differ from the defaults. */
export function preferencesOf(stored: string | null): MailPreferences {
  const own = stored === null ? {} : (JSON.parse(stored) as Partial<MailPreferences>)
  return Object.fromEntries(mail_switches.map((name) => [name, own[name] ?? true])) as MailPreferences
}

/** The preferences to store: null for the defaults. */
export function storedPreferences(preferences: MailPreferences): string | null {
  const own = Object.entries(preferences).filter(([, value]) => value !== true)
  return own.length ? JSON.stringify(Object.fromEntries(own)) : null
}
