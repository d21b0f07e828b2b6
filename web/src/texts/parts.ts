import { forms } from './forms.ts'
import type { texts as first } from './generated/en/first-texts.ts'
import type { texts as imports } from './generated/en/imports-texts.ts'
import type { texts as mail } from './generated/en/mail-texts.ts'
import type { texts as reports } from './generated/en/reports-texts.ts'
import type { texts as settings } from './generated/en/settings-texts.ts'

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

type First = typeof first
type Settings = typeof settings
type Imports = typeof imports
type Mail = typeof mail
type Reports = typeof reports
/** Every text of the app, and the arguments of each message. Another language without one of them is a type error. */
export type AllTexts = First & Settings & Imports & Partial<Mail & Reports>
/** The texts with those of the settings and of mails. */
export type MailTexts = First & Settings & Mail & Partial<Imports & Reports>
/** The texts with those of the settings. */
export type SettingsTexts = First & Settings & Partial<Imports & Mail & Reports>
/** The texts with those of reports. */
export type ReportsTexts = First & Reports & Partial<Settings & Imports & Mail>
/** The texts of each room. The texts of the settings are there as soon as with-settings.ts is loaded. */
export type Texts = First & Partial<Settings & Imports & Mail & Reports>

type Load<Part> = () => Promise<{ texts: Part }>
type Parts = {
  first: Load<First>
  settings: Load<Settings>
  imports: Load<Imports>
  mail: Load<Mail>
  reports: Load<Reports>
}
const parts: Record<Language, Parts> = {
  en: {
    first: () => import('./generated/en/first-texts.ts'),
    settings: () => import('./generated/en/settings-texts.ts'),
    imports: () => import('./generated/en/imports-texts.ts'),
    mail: () => import('./generated/en/mail-texts.ts'),
    reports: () => import('./generated/en/reports-texts.ts'),
  },
  de: {
    first: () => import('./generated/de/first-texts.ts'),
    settings: () => import('./generated/de/settings-texts.ts'),
    imports: () => import('./generated/de/imports-texts.ts'),
    mail: () => import('./generated/de/mail-texts.ts'),
    reports: () => import('./generated/de/reports-texts.ts'),
  },
}

let current: Language | undefined
const asked = new Set<keyof Parts>(['first'])
const known: { [language in Language]?: Texts } = {}

/** Adds the parts that were asked for to the texts of a language, which becomes the current one. */
export async function loadParts(language: Language): Promise<Texts> {
  current = language
  // Part of the first load, so that the texts need no other file.
  forms(language)
  const found = await Promise.all([...asked].map((part) => parts[language][part]()))
  const texts = (known[language] ?? {}) as Texts
  known[language] = texts
  for (const part of found) Object.assign(texts, part.texts)
  return texts
}

/** Asks for a part of the texts: it is there when the chunk that needs it is. */
export const askFor = (part: Exclude<keyof Parts, 'first'>): unknown => asked.add(part)

/** Resolves when the texts are there that a chunk has asked for. */
export const partsLoaded = async (): Promise<unknown> => current && loadParts(current)
