import { askFor, type MailTexts } from './parts.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// The log of mails has texts that no other page needs.
askFor('settings')
askFor('mail')

export type { MailTexts as Texts }

/** The texts, with those of the settings and of mails. */
export const useTexts = useFirstTexts as () => MailTexts
