import { useEffect } from 'react'
import { forgetDrafts } from './drafts.ts'

/** A record that was opened: its address and its name. */
type Recent = { path: string; name: string }

const at_most = 8
const prefix = 'rapport-recent-'
const keyOf = (workspace_id: number) => `${prefix}${workspace_id}`
// Only the page of a record ends in a number right below its list.
const record_path = /^\/[a-z-]+\/\d+$/

/** The records that were opened last in a workspace by this browser, latest first. */
export function recentRecords(workspace_id: number): Recent[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf(workspace_id)) ?? '[]') as Recent[]
  } catch {
    return []
  }
}

/** Remembers an address with its name, when it is a record's. */
export function rememberRecord(workspace_id: number, path: string, name: string): void {
  if (!record_path.test(path) || !name.trim()) return
  const others = recentRecords(workspace_id).filter((recent) => recent.path !== path)
  try {
    localStorage.setItem(keyOf(workspace_id), JSON.stringify([{ path, name }, ...others].slice(0, at_most)))
  } catch {
    // A browser that keeps nothing has no recent records.
  }
}

/** Forgets them all, and unsaved notes: what concerns people does not stay on a machine that somebody has signed out of. */
export function forgetRecords(): void {
  forgetDrafts()
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key)
  } catch {
    // As above.
  }
}

/** Remembers each record whose page is opened, by the title that its page gives the document. */
export function useRecentRecords(workspace_id: number): void {
  useEffect(() => {
    const title = document.querySelector('title')
    if (!title) return
    const observer = new MutationObserver(() => {
      const [name = ''] = document.title.split(/ · [^·]*$/)
      rememberRecord(workspace_id, window.location.pathname, name)
    })
    observer.observe(title, { childList: true })
    return () => observer.disconnect()
  }, [workspace_id])
}
