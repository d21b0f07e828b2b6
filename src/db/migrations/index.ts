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
]
