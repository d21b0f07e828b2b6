/** How a language writes numbers, and which plural category each has. */
export function forms(language: string) {
  const format = new Intl.NumberFormat(language)
  const rules = new Intl.PluralRules(language)
  return { number: format.format, plural: (value: number) => rules.select(value) }
}
