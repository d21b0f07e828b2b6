// Unsaved texts, in the session storage of the tab: they survive navigation and a reload, and end with the
// tab.

const prefix = 'rapport-draft-'

/**
 * The key of a person's draft of a note on a contact, or of another text (`of`). Per person, so that nobody
 * else finds it in the same tab.
 */
export const draftKey = (workspace_id: number, user_id: string, of: number | string): string =>
  `${prefix}${workspace_id}-${user_id}-${of}`

/** The draft; empty if there is none. */
export function readDraft(key: string): string {
  try {
    return sessionStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

/** Stores a draft; an empty text deletes it. */
export function keepDraft(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(key, text)
    else sessionStorage.removeItem(key)
  } catch {
    // Storage may be disabled. Then there are no drafts.
  }
}

/** Deletes all drafts. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // As above.
  }
}
