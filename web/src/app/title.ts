import { useEffect } from 'react'
import { useTexts } from '../texts/texts.ts'

/** Sets the title of the window: the page and the app. Null leaves the title to another component. */
export function useTitle(title: string | null): void {
  const t = useTexts()
  useEffect(() => {
    if (title !== null) document.title = `${title} · ${t.app.name}`
  }, [title, t])
}
