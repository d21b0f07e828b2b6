import { createContext, useContext } from 'react'
import type { Formats } from './intl.ts'

export type { Formats }

export const browser_zone = Intl.DateTimeFormat().resolvedOptions().timeZone

export const FormatsContext = createContext<Formats | null>(null)

/** The formats of the signed-in person, else of the browser. */
export function useFormats(): Formats {
  const formats = useContext(FormatsContext)
  if (!formats) throw new Error('FormatsContext has no value: render inside LanguageProvider.')
  return formats
}
