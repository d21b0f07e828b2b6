import { createContext, useContext } from 'react'
import { loaded } from '../app/loading.ts'
import { en, type Texts } from './en.ts'

export type { Texts }
export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

/** The first of the reader's languages that there is. */
export function preferredLanguage(wanted: readonly string[] = navigator.languages): Language {
  for (const tag of wanted) {
    const language = tag.slice(0, 2).toLowerCase()
    if (language in languages) return language as Language
  }
  return 'en'
}

/** The texts of a language; only English is part of the first load. */
export async function loadTexts(language: Language): Promise<Texts> {
  return language === 'de' ? (await loaded(import('./de.ts'))).de : en
}

export const TextsContext = createContext<{ language: Language; texts: Texts }>({ language: 'en', texts: en })
export const useTexts = (): Texts => useContext(TextsContext).texts
export const useLanguage = (): Language => useContext(TextsContext).language
