/** How a language writes numbers, and which plural category each has. */
export function forms(language: string) {
  // Made when a text needs them: the first one of a process reads 4 MiB of language data.
  let made: { format: Intl.NumberFormat; rules: Intl.PluralRules } | undefined
  const make = () => {
    made ??= { format: new Intl.NumberFormat(language), rules: new Intl.PluralRules(language) }
    return made
  }
  return {
    number: (value: number) => make().format.format(value),
    plural: (value: number) => make().rules.select(value),
  }
}
