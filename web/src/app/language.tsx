import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { colourStages } from '../deals/stage-colours.ts'
import { setStages } from '../deals/stages.ts'
import {
  type Language,
  languages,
  loadTexts,
  nameStages,
  preferredLanguage,
  type Texts,
  TextsContext,
} from '../texts/texts.ts'
import { browser_zone, FormatsContext } from './formats.ts'
import { createFormats, localeOf } from './intl.ts'
import { sessionQuery } from './session.ts'
import { setOffsets } from './zones.ts'

const again_ms = 2000
const last_language = 'rapport-language'

/** The language of the last session in this browser, else the browser's. index.html has its texts loaded at once. */
function firstLanguage(): Language {
  try {
    const last = localStorage.getItem(last_language)
    return preferredLanguage(last === null ? undefined : [last])
  } catch {
    return preferredLanguage()
  }
}

function keepLanguage(language: Language): void {
  try {
    localStorage.setItem(last_language, language)
  } catch {
    // Storage may be disabled. Then the app begins in the browser's language.
  }
}

/** The texts and formats in the person's language. The page waits for its first texts. */
export function LanguageProvider({ children }: { children: React.ReactNode }) {
  const { data } = useQuery({ ...sessionQuery, enabled: false })
  const chosen = data?.user.language
  const language = chosen && chosen in languages ? (chosen as Language) : firstLanguage()
  const [shown, setShown] = useState<{ language: Language; texts: Texts } | null>(null)
  useEffect(() => {
    document.documentElement.lang = language
    if (chosen) keepLanguage(language)
    let timer: ReturnType<typeof setTimeout>
    let current = true
    function load() {
      loadTexts(language).then(
        (texts) => current && setShown({ language, texts }),
        () => {
          // The service does not answer. The page stays as it is.
          if (current) timer = setTimeout(load, again_ms)
        },
      )
    }
    load()
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [language, chosen])
  const zone = data?.user.time_zone ?? browser_zone
  const currency = data?.workspace.currency ?? 'EUR'
  const offsets = data?.time_zone_offsets
  const formats = useMemo(() => {
    setOffsets(zone, offsets ?? [])
    return shown && createFormats(localeOf(shown.language), zone, currency)
  }, [shown, zone, offsets, currency])
  const own_stages = data?.workspace.deal_stages
  const named = useMemo(() => {
    const own = own_stages ?? []
    setStages(own)
    colourStages(own)
    nameStages(Object.fromEntries(own.flatMap(({ stage, label }) => (label ? [[stage, label]] : []))))
    return shown && { ...shown }
  }, [shown, own_stages])
  return (
    named && (
      <TextsContext value={named}>
        <FormatsContext value={formats}>{children}</FormatsContext>
      </TextsContext>
    )
  )
}
