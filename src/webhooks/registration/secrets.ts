import type { Seal } from '../../db/seal.ts'

type Stored = { secret: string; next_secret: string | null; next_secret_from_ms: number | null }

/**
 * The secrets that sign at a time, decrypted: one, or during a rotation's overlap the old and the new one. When the
 * overlap is over, the new one signs alone.
 */
export function signingSecrets(
  { secret, next_secret, next_secret_from_ms }: Stored,
  seal: Seal,
  now_ms: number,
): string[] {
  if (next_secret === null) return [seal.open(secret)]
  if (now_ms >= Number(next_secret_from_ms)) return [seal.open(next_secret)]
  return [seal.open(secret), seal.open(next_secret)]
}

/** The columns after a rotation to a new secret. Inside an overlap the newest two go on: the one before is dropped. */
export function rotated(
  stored: Stored,
  new_secret: string,
  seal: Seal,
  now_ms: number,
  overlap_ms: number,
): Stored {
  const sealed = seal.seal(new_secret)
  if (overlap_ms === 0) return { secret: sealed, next_secret: null, next_secret_from_ms: null }
  return {
    secret: stored.next_secret ?? stored.secret,
    next_secret: sealed,
    next_secret_from_ms: now_ms + overlap_ms,
  }
}

const most_opened = 1000

/** A seal that remembers what it opened last: to decrypt a secret costs more than to sign with it. */
export function rememberOpened(seal: Seal): Seal {
  const opened = new Map<string, string>()
  return {
    ...seal,
    open(sealed) {
      let text = opened.get(sealed)
      if (text === undefined) {
        text = seal.open(sealed)
        if (opened.size >= most_opened) opened.clear()
        opened.set(sealed, text)
      }
      return text
    },
  }
}
