/** The rows of CSV as in RFC 4180, which the service writes: commas, and quotes doubled within quoted cells. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text)
    if (!found) return rows
    const [, quoted, plain = '', end] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  // The last cell is empty, and no line end follows.
  if (row.length) rows.push([...row, ''])
  return rows
}
