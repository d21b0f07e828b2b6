/** Tags as one cell: separated by semicolons; a backslash before a semicolon, a comma or a backslash of a tag. */
export const joinTags = (tags: readonly string[]): string =>
  tags.map((tag) => tag.replaceAll(/[\\;,]/g, '\\$&')).join(';')

/** The tags of a cell, separated by semicolons or commas. */
export function splitTags(cell: string): string[] {
  const tags = cell.match(/(?:\\[\s\S]|[^\\;,]|\\$)+/g) ?? []
  return tags.map((tag) => tag.replaceAll(/\\([\s\S])/g, '$1').trim()).filter(Boolean)
}
