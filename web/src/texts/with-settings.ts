import { type AllTexts, en } from './en.ts'
import { settings } from './generated/en/settings.ts'
import { webhooks } from './generated/en/webhooks.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// The settings have a third of all texts, which no other page needs.
Object.assign(en, { settings, webhooks })

export { type Language, languages, useLanguage } from './texts.ts'
export type { AllTexts as Texts }

/** The texts, with those of the settings. */
export const useTexts = useFirstTexts as () => AllTexts
