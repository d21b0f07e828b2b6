import type { Seal } from '../../db/seal.ts'

type Stored = { secret: string; next_secret: string | null; next_secret_from_ms: number | null }

/** The decrypted secrets that sign at `now_ms`: one, or during a rotation's overlap the old one and the new one. */
export function signingSecrets(
  { secret, next_secret, next_secret_from_ms }: Stored,
  seal: Seal,
  now_ms: number,
): string[] {
  if (next_secret === null) return [seal.open(secret)]
  if (now_ms >= Number(next_secret_from_ms)) return [seal.open(next_secret)]
  return [seal.open(secret), seal.open(next_secret)]
}

/** The columns after a rotation to a new secret. A rotation during an overlap keeps the newest two secrets. */
export function rotateSecret(
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

const max_opened = 1000

/** A seal with a cache of decrypted secrets: decrypting a secret costs more than signing with it. */
export function cacheOpened(seal: Seal): Seal {
  const opened = new Map<string, string>()
  return {
    ...seal,
    open(sealed) {
      let text = opened.get(sealed)
      if (text === undefined) {
        text = seal.open(sealed)
        if (opened.size >= max_opened) opened.clear()
        opened.set(sealed, text)
      }
      return text
    },
  }
}
