import { askFor, type BookingTexts } from './parts.ts'
import { useTexts as useFirstTexts } from './texts.ts'

// The form of a booking page has texts that no other page needs.
askFor('booking')

/** The texts, with those of the form of a booking page. */
export const useTexts = useFirstTexts as () => BookingTexts
