import { whenIdle } from './idle.ts'

// The table of equal characters is not needed for the first screen. Until it has come, only accents and case are left out.
let normalise = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
let loading: Promise<void> | undefined

/** Loads the table of equal characters. */
export function loadEqualCharacters(): Promise<void> {
  loading ??= import('./normalise.ts').then((table) => {
    normalise = table.normaliseText
  })
  return loading
}
whenIdle(loadEqualCharacters)

/** A text in the form in which it is compared with others, as the API does. */
export function plainText(text: string): string {
  // Another try at the next text.
  loadEqualCharacters().catch(() => {
    loading = undefined
  })
  return normalise(text)
}
