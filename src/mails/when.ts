import { dateOf, timeOf, zoneName } from '../booking-site/days.ts'
import type { Language } from './texts.ts'

/** The reader of a mail: the language, and the zone of its times. */
export type Reader = { language: Language; zone: string | null }

const locales: Record<Language, string> = { en: 'en-GB', de: 'de' }

/** The reader as the functions of days take it. Without a zone, times are in UTC. */
export const readerOf = ({ language, zone }: Reader) => ({ locale: locales[language], zone: zone ?? 'UTC' })

/** Such as Wednesday 25 November 2026, 09:30 (Europe/Berlin). */
export function momentText(ms: number, reader: Reader): string {
  const by = readerOf(reader)
  return `${dateOf(ms, by)}, ${timeOf(ms, by)} (${zoneName(by.zone)})`
}
