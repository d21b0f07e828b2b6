import { useEffect } from 'react'
import { useTexts } from '../texts/texts.ts'

/** The title of the window: that of the page, and whose it is. */
export function useTitle(title: string): void {
  const t = useTexts()
  useEffect(() => {
    document.title = `${title} · ${t.app.name}`
  }, [title, t])
}
