import { createContext, useContext } from 'react'
import { loaded } from '../app/loading.ts'
import { type Language, languages, loadParts, nameStages, preferredLanguage, type Texts } from './parts.ts'

export { type Language, languages, nameStages, preferredLanguage, type Texts }

/** The texts of a language. From now on, later parts are loaded in this language. */
export const loadTexts = (language: Language): Promise<Texts> => loaded(loadParts(language))

/** Takes the place of an argument that is shown as an element: the text is split at it. */
export const place = '\n'

type Shown = { language: Language; texts: Texts }
// Nothing is shown before the first texts are loaded.
export const TextsContext = createContext<Shown>({ language: 'en', texts: {} as Texts })
export const useTexts = (): Texts => useContext(TextsContext).texts
export const useLanguage = (): Language => useContext(TextsContext).language
