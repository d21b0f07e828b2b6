// The table of equal characters is not needed for the first screen. Until it has come, only case is left out.
let normalise = (text: string): string => text.toLowerCase()
let loading: Promise<void> | undefined

/** Loads the table of equal characters. */
export function loadEqualCharacters(): Promise<void> {
  loading ??= import('./normalise.ts').then((table) => {
    normalise = table.normaliseText
  })
  return loading
}

/** A text in the form in which it is compared with others, as the API does. */
export const plainText = (text: string): string => normalise(text)

/** Whether a text contains another one, as the API compares them. */
export const includesText = (text: string, part: string): boolean =>
  plainText(text).includes(plainText(part).trim())
