// Control characters, but tab, and the characters that reorder a line. They move the cursor, forge lines, or run commands.
const controls = /[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069]/gu

/** One line as a terminal may show it: control characters as escapes such as \u001b, which JSON reads as before. */
export const visible = (line: string): string =>
  line.replace(controls, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
