import type { Migration } from '../migrate.ts'
import { baseline } from './0019_baseline.ts'
import { sinceRelease } from './0037_baseline.ts'
import { equalCharacters } from './0038_equal_characters.ts'
import { deliveryFilters } from './0039_delivery_filters.ts'
import { fanouts } from './0040_fanouts.ts'
import { appointmentClocks } from './0041_appointment_clocks.ts'
import { work } from './0042_work.ts'
import { importAccounts } from './0043_import_accounts.ts'
import { sameTexts } from './0044_same_texts.ts'
import { matchIndexes } from './0045_match_indexes.ts'
import { recordFacts } from './0046_record_facts.ts'
import { mails } from './0047_mails.ts'
import { resetLinks } from './0048_reset_links.ts'
import { bookings } from './0049_bookings.ts'
import { mailPreferences } from './0050_mail_preferences.ts'
import { choices } from './0051_choices.ts'
import { busyCalendars } from './0052_busy_calendars.ts'
import { dismissedPairs } from './0053_dismissed_pairs.ts'
import { searchChanges } from './0054_search_changes.ts'
import { digests } from './0055_digests.ts'
import { calendarFeeds } from './0056_calendar_feeds.ts'
import { hosts } from './0057_hosts.ts'
import { pageChoices } from './0058_page_choices.ts'
import { endedAppointments } from './0059_ended_appointments.ts'
import { questions } from './0060_questions.ts'
import { eventLinks } from './0061_event_links.ts'
import { reminders } from './0062_reminders.ts'
import { factIndexes } from './0063_fact_indexes.ts'
import { mailIndexes } from './0064_mail_indexes.ts'
import { readNotifications } from './0065_read_notifications.ts'
import { appointmentDeals } from './0066_appointment_deals.ts'
import { appointmentGuests } from './0067_appointment_guests.ts'
import { notifiedWorkspaces } from './0068_notified_workspaces.ts'
import { settledNotifications } from './0069_settled_notifications.ts'

/** All migrations, in order. A released one never changes: add a new file and a line. */
export const migrations: Migration[] = [
  baseline,
  sinceRelease,
  equalCharacters,
  deliveryFilters,
  fanouts,
  appointmentClocks,
  work,
  importAccounts,
  sameTexts,
  matchIndexes,
  recordFacts,
  mails,
  resetLinks,
  bookings,
  mailPreferences,
  choices,
  busyCalendars,
  dismissedPairs,
  searchChanges,
  digests,
  calendarFeeds,
  hosts,
  pageChoices,
  endedAppointments,
  questions,
  eventLinks,
  reminders,
  factIndexes,
  mailIndexes,
  readNotifications,
  appointmentDeals,
  appointmentGuests,
  notifiedWorkspaces,
  settledNotifications,
]
