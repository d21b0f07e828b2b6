import { localeOf } from '../app/intl.ts'

type Forms = { number(value: number): string; plural(value: number): Intl.LDMLPluralRule }
const known: Record<string, Forms> = {}

/** How a language writes numbers, and which plural category each has. The texts of its rooms share it. */
export function forms(language: string): Forms {
  const make = (): Forms => {
    const format = new Intl.NumberFormat(localeOf(language))
    const rules = new Intl.PluralRules(language)
    return { number: format.format, plural: (value) => rules.select(value) }
  }
  known[language] ??= make()
  return known[language]
}
