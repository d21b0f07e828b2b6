/** A trimmed name. Throws unless it has 1 to 255 characters and no control characters. */
export function nameOf(text = ''): string {
  const name = text.trim()
  if (!name || name.length > 255) throw new Error('--name must have 1 to 255 characters.')
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    throw new Error('--name must not have control characters.')
  return name
}

/** A number of things, with the words for one of them and for more, such as `1 row`. */
export const counted = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count === 1 ? one : more}`

/** A number of rows, such as `1 row`. */
export const rowsOf = (count: number): string => counted(count, 'row')

/** Formats rows below a heading in aligned columns. The last column is not padded. */
export function columns(heading: string[], rows: string[][]): string[] {
  const all = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  '),
  )
}
