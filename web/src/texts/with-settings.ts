import { type AllTexts, askForSettings } from './parts.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// The settings have a third of all texts, which no other page needs.
askForSettings()

export { type Language, languages, useLanguage } from './texts.ts'
export type { AllTexts as Texts }

/** The texts, with those of the settings. */
export const useTexts = useFirstTexts as () => AllTexts
