import { askFor, type SettingsTexts } from './parts.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// The settings have a third of all texts, which no other page needs.
askFor('settings')

export { type Language, languages, useLanguage } from './texts.ts'
export type { SettingsTexts as Texts }

/** The texts, with those of the settings. */
export const useTexts = useFirstTexts as () => SettingsTexts
