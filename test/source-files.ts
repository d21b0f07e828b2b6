import { readFileSync } from 'node:fs'

export const root = new URL('..', import.meta.url)
export const read = (file: string) => readFileSync(new URL(file, root), 'utf8')

// Every form that the sources have: on one line, over several, for its effect alone, and when needed.
export const form = /^(?:(?:import|export|\}) [^'\n]*from |import )'([^']+)'$|\bimport\('([^']+)'\)/gm
/** The modules that a file imports, as it writes them. */
export const importsOf = (file: string) =>
  [...read(file).matchAll(form)].map(([, fixed, late]) => String(fixed ?? late))
