// As the service counts them: characters, not UTF-16 units.
const max_key_characters = 64

/** The key of the custom field that a column of a file becomes: the start of a long header. */
export const customKey = (header: string): string => [...header].slice(0, max_key_characters).join('')
