// Controls, and formats that reorder the text after them or cannot be seen: embeddings, overrides and isolates of
// direction, blanks without width. Joiners and marks of direction stay: Persian and emojis need them.
const hidden = /[\p{Cc}\u00ad\u200b\u2028-\u202e\u2060-\u206f\ufeff]/gu
const blanks = new Set(['\t', '\n', '\r'])

/** A text on one line whose control characters are shown: [U+202E] in place of an override. */
export const visible = (text: string): string =>
  text.replaceAll(hidden, (sign) => {
    const code = (sign.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
    return blanks.has(sign) ? sign : `[U+${code}]`
  })
