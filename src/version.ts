import { readFileSync } from 'node:fs'

// The build replaces this read by its text, so it names its file.
/** The version of this program, from package.json. */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version
