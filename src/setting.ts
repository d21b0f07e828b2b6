/** A variable of the environment. `parse` returns the value, or throws an Error that says which values are valid. */
export type Setting<T> = { fallback?: string; secret?: true; about: string; parse: (text: string) => T }

export const integer = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new Error(`must be an integer from ${min} to ${max}`)
  return value
}
export const text = (value: string) => value || null
export const orEmpty =
  <T>(parse: (text: string) => T) =>
  (value: string) =>
    value === '' ? null : parse(value)
export const oneOf =
  (...values: string[]) =>
  (value: string) => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}`)
    return value
  }
/** Seconds before each retry. */
export const delays = (value: string) => {
  if (value === 'none') return []
  const list = value.split(',').map((part) => part.trim())
  if (!list.every((part) => /^\d{1,7}(\.\d{1,3})?$/.test(part)))
    throw new Error('must be seconds separated by commas, such as 60,300,1800, or none')
  return list.map(Number)
}
