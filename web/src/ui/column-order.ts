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
