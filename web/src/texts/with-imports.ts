import { type AllTexts, askFor } from './parts.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// Imports have many texts, which no other page needs.
askFor('settings')
askFor('imports')

export type { AllTexts as Texts }

/** The texts, with those of the settings and of imports. */
export const useTexts = useFirstTexts as () => AllTexts
