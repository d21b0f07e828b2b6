import { mails as de } from '../texts/generated/de/mails.ts'
import { mails as en } from '../texts/generated/en/mails.ts'

/** The texts of mails. */
export type MailTexts = typeof en

const texts = { en, de } satisfies Record<string, MailTexts>
export type Language = keyof typeof texts

/** The language of a person, else English. */
export const languageOf = (language: string | null | undefined): Language =>
  language && Object.hasOwn(texts, language) ? (language as Language) : 'en'

export const mailTexts = (language: Language): MailTexts => texts[language]
