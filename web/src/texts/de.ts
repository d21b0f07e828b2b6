import { activities } from './de/activities.ts'
import { app } from './de/app.ts'
import { calendar } from './de/calendar.ts'
import { companies } from './de/companies.ts'
import { conflicts } from './de/conflicts.ts'
import { contacts } from './de/contacts.ts'
import { deals } from './de/deals.ts'
import { definitions } from './de/definitions.ts'
import { files } from './de/files.ts'
import { filters } from './de/filters.ts'
import { home } from './de/home.ts'
import { imports } from './de/imports.ts'
import { merges } from './de/merges.ts'
import { notifications } from './de/notifications.ts'
import { people } from './de/people.ts'
import { fields, record } from './de/record.ts'
import { reports } from './de/reports.ts'
import { settings } from './de/settings.ts'
import { trash } from './de/trash.ts'
import { webhooks } from './de/webhooks.ts'
import type { AllTexts } from './en.ts'

/** The same texts in German. */
export const de: AllTexts = {
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
  settings,
  conflicts,
  webhooks,
  notifications,
  people,
  fields,
  record,
  reports,
}
