/** JSON fields arrive as a text, or as a value of an expression. */
export function parsed(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    throw new TypeError(`${name} is not valid JSON.`)
  }
}
