import { askFor, type ReportsTexts } from './parts.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// Reports have texts that no other page needs.
askFor('reports')

export type { ReportsTexts as Texts }

/** The texts, with those of reports. */
export const useTexts = useFirstTexts as () => ReportsTexts
