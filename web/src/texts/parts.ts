import { forms } from './forms.ts'
import type { texts as booking } from './generated/en/booking-texts.ts'
import type { texts as first } from './generated/en/first-texts.ts'
import type { texts as imports } from './generated/en/imports-texts.ts'
import type { texts as mail } from './generated/en/mail-texts.ts'
import type { texts as open } from './generated/en/open-texts.ts'
import type { texts as reports } from './generated/en/reports-texts.ts'
import type { texts as settings } from './generated/en/settings-texts.ts'
import type { texts as trash } from './generated/en/trash-texts.ts'

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

/** The first of the reader's languages that there is. */
export function preferredLanguage(wanted: readonly string[] = navigator.languages): Language {
  for (const tag of wanted) {
    const language = tag.slice(0, 2).toLowerCase()
    if (language in languages) return language as Language
  }
  return 'en'
}

type First = typeof first
type Booking = typeof booking
type Settings = typeof settings
type Imports = typeof imports
type Mail = typeof mail
type Open = typeof open
type Reports = typeof reports
type Trash = typeof trash
/** Every text of the app, and the arguments of each message. Another language without one of them is a type error. */
export type AllTexts = First & Settings & Imports & Partial<Booking & Mail & Reports & Trash>
/** The texts with those of the settings and of mails. */
export type MailTexts = First & Settings & Mail & Partial<Booking & Imports & Reports & Trash>
/** The texts with those of the form of a booking page. */
export type BookingTexts = First & Booking & Partial<Settings & Imports & Mail & Reports & Trash>
/** The texts with those of the settings. */
export type SettingsTexts = First & Settings & Partial<Booking & Imports & Mail & Reports & Trash>
/** The texts with those of reports. */
export type ReportsTexts = First & Reports & Partial<Booking & Settings & Imports & Mail & Trash>
/** The texts with those of the trash and the audit log. */
export type TrashTexts = First & Trash & Partial<Booking & Settings & Imports & Mail & Reports>
/** The texts of the pages without a session, which no other page needs. */
export type OpenTexts = First & Open
/** The texts of each room. The texts of the settings are there as soon as with-settings.ts is loaded. */
export type Texts = First & Partial<Booking & Settings & Imports & Mail & Reports & Trash>

type Load<Part> = () => Promise<{ texts: Part }>
type Parts = {
  first: Load<First>
  booking: Load<Booking>
  settings: Load<Settings>
  imports: Load<Imports>
  mail: Load<Mail>
  open: Load<Open>
  reports: Load<Reports>
  trash: Load<Trash>
}
const parts: Record<Language, Parts> = {
  en: {
    first: () => import('./generated/en/first-texts.ts'),
    booking: () => import('./generated/en/booking-texts.ts'),
    settings: () => import('./generated/en/settings-texts.ts'),
    imports: () => import('./generated/en/imports-texts.ts'),
    mail: () => import('./generated/en/mail-texts.ts'),
    open: () => import('./generated/en/open-texts.ts'),
    reports: () => import('./generated/en/reports-texts.ts'),
    trash: () => import('./generated/en/trash-texts.ts'),
  },
  de: {
    first: () => import('./generated/de/first-texts.ts'),
    booking: () => import('./generated/de/booking-texts.ts'),
    settings: () => import('./generated/de/settings-texts.ts'),
    imports: () => import('./generated/de/imports-texts.ts'),
    mail: () => import('./generated/de/mail-texts.ts'),
    open: () => import('./generated/de/open-texts.ts'),
    reports: () => import('./generated/de/reports-texts.ts'),
    trash: () => import('./generated/de/trash-texts.ts'),
  },
}

let current: Language | undefined
const asked = new Set<keyof Parts>(['first'])
const known: { [language in Language]?: Texts } = {}

let own_names: { [stage: string]: string } = {}
const built_in: { [language in Language]?: First['deals']['stages'] } = {}

/** Puts the names that the workspace has given its stages in the place of the usual ones, in every language. */
export function nameStages(names: { [stage: string]: string }): void {
  own_names = names
  for (const language of Object.keys(known) as Language[]) applyNames(language)
}

function applyNames(language: Language): void {
  const texts = known[language]
  const usual = built_in[language]
  if (texts && usual) texts.deals = { ...texts.deals, stages: { ...usual, ...own_names } }
}

/** Adds the parts that were asked for to the texts of a language, which becomes the current one. */
export async function loadParts(language: Language): Promise<Texts> {
  current = language
  // Part of the first load, so that the texts need no other file.
  forms(language)
  const found = await Promise.all([...asked].map((part) => parts[language][part]()))
  const texts = (known[language] ?? {}) as Texts
  known[language] = texts
  for (const part of found) Object.assign(texts, part.texts)
  built_in[language] ??= texts.deals.stages
  applyNames(language)
  return texts
}

/** Asks for a part of the texts: it is there when the chunk that needs it is. */
export const askFor = (part: Exclude<keyof Parts, 'first'>): unknown => asked.add(part)

/** Resolves when the texts are there that a chunk has asked for. */
export const partsLoaded = async (): Promise<unknown> => current && loadParts(current)
