import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { en } from '../texts/en.ts'
import {
  type Language,
  languages,
  loadTexts,
  preferredLanguage,
  type Texts,
  TextsContext,
} from '../texts/texts.ts'
import { sessionQuery } from './session.ts'

/** The texts in the person's language, else in the browser's. The page waits for its first texts. */
export function LanguageProvider({ children }: { children: React.ReactNode }) {
  const { data } = useQuery({ ...sessionQuery, enabled: false })
  const chosen = data?.user.language
  const language: Language = chosen && chosen in languages ? (chosen as Language) : preferredLanguage()
  const [loaded, setLoaded] = useState<{ language: Language; texts: Texts } | null>(() =>
    language === 'en' ? { language, texts: en } : null,
  )
  useEffect(() => {
    document.documentElement.lang = language
    let current = true
    loadTexts(language)
      // English is better than nothing.
      .catch(() => en)
      .then((texts) => current && setLoaded({ language, texts }))
    return () => {
      current = false
    }
  }, [language])
  return loaded && <TextsContext.Provider value={loaded}>{children}</TextsContext.Provider>
}
