import { createContext, useContext } from 'react'
import { loaded } from '../app/loading.ts'
import { type AllTexts, en, type Texts } from './en.ts'

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

// English is part of the first load.
const others: Record<Exclude<Language, 'en'>, () => Promise<{ texts: AllTexts }>> = {
  de: () => import('./generated/de/index.ts'),
}

export async function loadTexts(language: Language): Promise<Texts> {
  return language === 'en' ? en : (await loaded(others[language]())).texts
}

/** Takes the place of an argument that is shown as an element: the text is split at it. */
export const place = '\n'

export const TextsContext = createContext<{ language: Language; texts: Texts }>({ language: 'en', texts: en })
export const useTexts = (): Texts => useContext(TextsContext).texts
export const useLanguage = (): Language => useContext(TextsContext).language
