/**
 * Texts that were written into an input of tags. A comma ends a tag also where no key comes with it: from the keyboard of
 * a phone, or pasted. `known` ones stay as they are.
 */
export const writtenTags = (texts: readonly string[], known: readonly string[] = []): string[] => [
  ...new Set(
    texts.flatMap((text) =>
      known.includes(text) ? text : text.split(',').flatMap((tag) => tag.trim() || []),
    ),
  ),
]
