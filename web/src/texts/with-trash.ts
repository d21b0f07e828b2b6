import { askFor, type TrashTexts } from './parts.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// The trash and the audit log have texts that few other parts need.
askFor('trash')

export { place } from './texts.ts'
export type { TrashTexts as Texts }

/** The texts, with those of the trash and the audit log. */
export const useTexts = useFirstTexts as () => TrashTexts
