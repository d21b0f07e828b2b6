// The order of a table's columns, as ids. The first column is the record's name, and stays first.

/** The order in which a column has come to an index, or to the nearest one that it can have. */
export function moveColumn(ids: readonly string[], id: string, to: number): string[] {
  const from = ids.indexOf(id)
  if (from < 1) return [...ids]
  const others = ids.filter((one) => one !== id)
  const at = Math.min(Math.max(to, 1), others.length)
  return [...others.slice(0, at), id, ...others.slice(at)]
}

/** The order of all columns: the shown ones as they are, and each hidden one after the one that `all` has before it. */
export function withHidden(all: readonly string[], shown: readonly string[]): string[] {
  const order = [...shown]
  all.forEach((id, at) => {
    if (!order.includes(id)) order.splice(order.indexOf(all[at - 1] ?? '') + 1, 0, id)
  })
  return order
}

/** The order of the shown columns after one of them is hidden, or a hidden one is shown. */
export const toggleColumn = (all: readonly string[], shown: readonly string[], id: string): string[] =>
  shown.includes(id)
    ? shown.filter((one) => one !== id)
    : withHidden(all, shown).filter((one) => one === id || shown.includes(one))

/** The bounds of a column's own width, in pixels at the usual text size. */
export const [least_px, most_px] = [56, 800] as const
export const within = (width: number): number => Math.round(Math.min(most_px, Math.max(least_px, width)))

/** The shown columns in their order, each with its own width, if it has one. */
export type Widths = Map<string, number | undefined>

/** Reads `name,email:240`. Unknown columns are left out, and the first one comes first. */
export function readWidths(text: string, known: readonly string[]): Widths {
  const entries = text.split(',').map((part): [string, number | undefined] => {
    const [, id = '', width] = /^(.+):(\d+)$/s.exec(part) ?? []
    return known.includes(part) || width === undefined ? [part, undefined] : [id, within(Number(width))]
  })
  const widths = new Map(entries)
  return new Map(
    [...known.slice(0, 1), ...widths.keys()].flatMap((id) =>
      known.includes(id) ? [[id, widths.get(id)]] : [],
    ),
  )
}

/** Writes columns as `readWidths` reads them. */
export const writeWidths = (ids: readonly string[], widths: Widths): string =>
  ids.map((id) => (widths.get(id) === undefined ? id : `${id}:${widths.get(id)}`)).join(',')
