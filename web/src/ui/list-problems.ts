/** The first problem of a field that is a list, or of one of its entries. */
export const problemOfList = <Text>(problems: Record<string, Text>, list: string): Text | undefined =>
  Object.entries(problems).find(([field]) => field === list || field.startsWith(`${list}.`))?.[1]

/** The problems without those of a list's entries: they are found by their place, which has changed. */
export const withoutEntries = <Text>(problems: Record<string, Text>, list: string): Record<string, Text> =>
  Object.fromEntries(Object.entries(problems).filter(([field]) => !field.startsWith(`${list}.`)))
