import { type Html, html } from './html.ts'
import { booking as de } from './texts/generated/de/booking.ts'
import { booking as en } from './texts/generated/en/booking.ts'

/** Every text of the public pages. */
export type Texts = typeof en
const texts = { en, de } satisfies Record<string, Texts>
export type Language = keyof typeof texts

/** The language of a locale. */
export const languageOf = (locale: string): Language => (/^de\b/i.test(locale) ? 'de' : 'en')

/** The texts in a visitor's language. */
export const textsOf = ({ locale }: { locale: string }): Texts => texts[languageOf(locale)]

/** A duration in words. */
export function lengthOf(t: Texts, minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [hours > 0 && t.hours({ n: hours }), rest > 0 && t.minutes({ n: rest })].filter(Boolean).join(' ')
}

/** A text with an element at its {place}. */
export function around(text: (values: { place: string }) => string, element: Html): Html {
  const [before, after] = text({ place: '\0' }).split('\0')
  return html`${before}${element}${after}`
}
