import { useEffect } from 'react'
import type { RecordPath } from './addresses.ts'
import { forgetDraftsEverywhere } from './drafts.ts'

/** A record that was opened: path and name. */
type Recent = { path: RecordPath; name: string }

const at_most = 8
const prefix = 'rapport-recent-'
const keyOf = (workspace_id: number) => `${prefix}${workspace_id}`
// Only records have a page with a number directly below the path of a list.
const isRecordPath = (path: string): path is RecordPath => /^\/[a-z-]+\/\d+$/.test(path)

/** The records that this browser opened last in a workspace, latest first. */
export function recentRecords(workspace_id: number): Recent[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf(workspace_id)) ?? '[]') as Recent[]
  } catch {
    return []
  }
}

/** Remembers a path with its name if it is the page of a record. */
export function rememberRecord(workspace_id: number, path: string, name: string): void {
  if (!isRecordPath(path) || !name.trim()) return
  const others = recentRecords(workspace_id).filter((recent) => recent.path !== path)
  try {
    localStorage.setItem(keyOf(workspace_id), JSON.stringify([{ path, name }, ...others].slice(0, at_most)))
  } catch {
    // Storage may be disabled. Then there are no recent records.
  }
}

/** Deletes recent records and drafts: personal data does not stay on a machine after sign-out. */
export function forgetRecords(): void {
  forgetDraftsEverywhere()
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key)
  } catch {
    // As above.
  }
}

/** Remembers each record whose page is opened, by the title of the document. */
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
