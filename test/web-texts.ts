import { createRequire } from 'node:module'
import { generateTexts } from '../scripts/generate-texts.ts'

// The texts of the web app, as the browser has them. A fresh checkout has only their JSON files.
generateTexts()

const load = createRequire(import.meta.url)
const english: typeof import('../web/src/texts/generated/en/index.ts') = load(
  '../web/src/texts/generated/en/index.ts',
)
const german: typeof import('../web/src/texts/generated/de/index.ts') = load(
  '../web/src/texts/generated/de/index.ts',
)
export const en = english.texts
export const de = german.texts
