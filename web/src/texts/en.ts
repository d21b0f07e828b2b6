import { activities } from './en/activities.ts'
import { app } from './en/app.ts'
import { calendar } from './en/calendar.ts'
import { companies } from './en/companies.ts'
import { conflicts } from './en/conflicts.ts'
import { contacts } from './en/contacts.ts'
import { deals } from './en/deals.ts'
import { definitions } from './en/definitions.ts'
import { files } from './en/files.ts'
import { filters } from './en/filters.ts'
import { home } from './en/home.ts'
import { imports } from './en/imports.ts'
import { merges } from './en/merges.ts'
import { notifications } from './en/notifications.ts'
import { people } from './en/people.ts'
import { fields, record } from './en/record.ts'
import { reports } from './en/reports.ts'
import type { settings } from './en/settings.ts'
import { trash } from './en/trash.ts'
import type { webhooks } from './en/webhooks.ts'

const first = {
  app,
  home,
  contacts,
  companies,
  deals,
  activities,
  calendar,
  trash,
  files,
  imports,
  merges,
  definitions,
  filters,
  conflicts,
  notifications,
  people,
  fields,
  record,
  reports,
}

/** Every text of the app. Each language has all of them; the type checker verifies it. */
export type AllTexts = typeof first & { settings: typeof settings; webhooks: typeof webhooks }

/** The texts of each room. Those of the settings are there as soon as with-settings.ts is loaded. */
export type Texts = typeof first & Partial<AllTexts>

export const en: Texts = first
