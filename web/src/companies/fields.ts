import type { Fact } from '../record/fields/facts.tsx'

/** The facts of a company, on its page and in the dialog that creates one. */
export const fields = [
  ['name', 'text'],
  ['website', 'url'],
  ['industry', 'text'],
  ['phone', 'tel'],
  ['address', 'long'],
] as const satisfies readonly Fact<'companies'>[]
