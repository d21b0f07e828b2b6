import { activities } from './generated/en/activities.ts'
import { app } from './generated/en/app.ts'
import { calendar } from './generated/en/calendar.ts'
import { companies } from './generated/en/companies.ts'
import { conflicts } from './generated/en/conflicts.ts'
import { contacts } from './generated/en/contacts.ts'
import { deals } from './generated/en/deals.ts'
import { definitions } from './generated/en/definitions.ts'
import { fields } from './generated/en/fields.ts'
import { files } from './generated/en/files.ts'
import { filters } from './generated/en/filters.ts'
import { home } from './generated/en/home.ts'
import { imports } from './generated/en/imports.ts'
import type { texts } from './generated/en/index.ts'
import { kinds } from './generated/en/kinds.ts'
import { merges } from './generated/en/merges.ts'
import { notifications } from './generated/en/notifications.ts'
import { people } from './generated/en/people.ts'
import { record } from './generated/en/record.ts'
import { reports } from './generated/en/reports.ts'
import { trash } from './generated/en/trash.ts'

/** Every text of the app, and the arguments of each message. Another language without one of them is a type error. */
export type AllTexts = typeof texts

/** The texts of each room. Those of the settings are there as soon as with-settings.ts is loaded. */
export type Texts = Omit<AllTexts, 'settings' | 'webhooks'> & Partial<AllTexts>

export const en: Texts = {
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
  kinds,
}
