import { useQuery } from '@tanstack/react-query'
import { useLanguage } from '../texts/texts.ts'
import { createFormats, type Formats, localeOf } from './intl.ts'
import { sessionQuery } from './session.ts'

export type { Formats }

export const browser_zone = Intl.DateTimeFormat().resolvedOptions().timeZone

// Cached: each has seventeen formatters, and every date and amount on a page needs one.
let kept: { key: string; formats: Formats } | null = null

/** The formats of the signed-in person, else of the browser. */
export function useFormats(): Formats {
  const language = useLanguage()
  const { data } = useQuery({ ...sessionQuery, enabled: false })
  const zone = data?.user.time_zone ?? browser_zone
  const currency = data?.workspace.currency ?? 'EUR'
  const key = `${language} ${zone} ${currency}`
  if (kept?.key !== key) kept = { key, formats: createFormats(localeOf(language), zone, currency) }
  return kept.formats
}
