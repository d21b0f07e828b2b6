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

// The keys of the drafts, latest last. It begins with the prefix, so that it is deleted with them.
const order_key = `${prefix}order`
const most_drafts = 50
const most_letters = 200_000

/** Stores a draft; an empty text deletes it, and so does one that is too long. Of many, the oldest are deleted. */
export function keepDraft(key: string, text: string): void {
  const fits = text !== '' && text.length <= most_letters
  try {
    if (fits) sessionStorage.setItem(key, text)
    else sessionStorage.removeItem(key)
    const before = (sessionStorage.getItem(order_key) ?? '').split(' ')
    const order = before.filter((one) => one && one !== key).concat(fits ? [key] : [])
    for (const oldest of order.splice(0, order.length - most_drafts)) sessionStorage.removeItem(oldest)
    sessionStorage.setItem(order_key, order.join(' '))
  } catch {
    // Storage may be disabled. Then there are no drafts.
  }
}

type Fields = Record<string, unknown>

/** The fields of a draft; null if there is none. */
export function readFields(key: string | null): Fields | null {
  try {
    return key ? (JSON.parse(readDraft(key) || 'null') as Fields | null) : null
  } catch {
    return null
  }
}

/** Stores the fields of a draft; without fields, deletes it. */
export function keepFields(key: string | null, fields: Fields): void {
  if (key) keepDraft(key, Object.keys(fields).length ? JSON.stringify(fields) : '')
}

const signed_out = 'rapport-signed-out'

/** Deletes the drafts of all tabs: each notices it by the storage of the browser. */
export function forgetDraftsEverywhere(): void {
  forgetDrafts()
  try {
    localStorage.setItem(signed_out, String(Date.now()))
  } catch {
    // Storage may be disabled. Then there are no drafts.
  }
}

/** Deletes the drafts of this tab when another one signs out, or has signed out while this one slept. */
export function followSignOut(): void {
  function look() {
    try {
      const now = localStorage.getItem(signed_out)
      if (now === sessionStorage.getItem(signed_out)) return
      forgetDrafts()
      sessionStorage.setItem(signed_out, now ?? '')
    } catch {
      // As above.
    }
  }
  window.addEventListener('storage', ({ key }) => key === signed_out && look())
  look()
}

/** Deletes all drafts of this tab. */
function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // As above.
  }
}
