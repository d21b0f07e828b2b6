import { useEffect } from 'react'
import { useTexts } from '../texts/texts.ts'

/** The title of the window: that of the page, and whose it is; null leaves it to somebody else. */
export function useTitle(title: string | null): void {
  const t = useTexts()
  useEffect(() => {
    if (title !== null) document.title = `${title} · ${t.app.name}`
  }, [title, t])
}
