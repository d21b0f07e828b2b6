/** Tags as one cell: separated by semicolons; a backslash before a semicolon, a comma or a backslash of a tag. */
export const joinTags = (tags: readonly string[]): string =>
  tags.map((tag) => tag.replaceAll(/[\\;,]/g, '\\$&')).join(';')

/** The tags of a cell, separated by semicolons or commas. */
export function splitTags(cell: string): string[] {
  const tags = cell.match(/(?:\\[\s\S]|[^\\;,]|\\$)+/g) ?? []
  return tags.map((tag) => tag.replaceAll(/\\([\s\S])/g, '$1').trim()).filter(Boolean)
}

/** The labels of a cell of another program, such as `* friends ::: * myContacts` of Google. */
export const splitLabels = (cell: string): string[] =>
  cell
    .split(/ ::: |[;,]/)
    .map((label) => label.trim().replace(/^\* /, ''))
    .filter(Boolean)
