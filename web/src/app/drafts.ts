// What is written but not saved, in the browser's tab: they survive other pages and a reload, and end with the tab.

const prefix = 'rapport-draft-'

/** Where a person's note on a contact is kept, or another text (`of`): nobody else finds it in the same tab. */
export const draftKey = (workspace_id: number, user_id: string, of: number | string): string =>
  `${prefix}${workspace_id}-${user_id}-${of}`

/** What was written; empty when there is nothing. */
export function readDraft(key: string): string {
  try {
    return sessionStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

/** Keeps what is written; an empty text ends it. */
export function keepDraft(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(key, text)
    else sessionStorage.removeItem(key)
  } catch {
    // A browser that keeps nothing has no drafts.
  }
}

/** Forgets them all. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // As above.
  }
}
