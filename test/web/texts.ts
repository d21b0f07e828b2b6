import { createRequire } from 'node:module'
import { generateTexts } from '../../scripts/generate-texts.ts'

// The texts of the web app, as the browser has them. A fresh checkout has only their JSON files.
generateTexts()

const load = createRequire(import.meta.url)
type First = typeof import('../../web/src/texts/generated/en/first-texts.ts')
type Settings = typeof import('../../web/src/texts/generated/en/settings-texts.ts')
type Imports = typeof import('../../web/src/texts/generated/en/imports-texts.ts')
type Trash = typeof import('../../web/src/texts/generated/en/trash-texts.ts')
function textsOf(
  language: 'en' | 'de',
): First['texts'] & Settings['texts'] & Imports['texts'] & Trash['texts'] {
  const first: First = load(`../../web/src/texts/generated/${language}/first-texts.ts`)
  const settings: Settings = load(`../../web/src/texts/generated/${language}/settings-texts.ts`)
  const imports: Imports = load(`../../web/src/texts/generated/${language}/imports-texts.ts`)
  const trash: Trash = load(`../../web/src/texts/generated/${language}/trash-texts.ts`)
  return { ...first.texts, ...settings.texts, ...imports.texts, ...trash.texts }
}
export const en = textsOf('en')
export const de = textsOf('de')
