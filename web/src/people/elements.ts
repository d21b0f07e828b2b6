type Attributes = { [name: string]: string | boolean | null | undefined }

/** Makes an element. An attribute that is false or null is left out. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string | null | undefined)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== null && value !== false)
      made.setAttribute(key, value === true ? '' : value)
  made.append(...children.filter((child) => child !== null && child !== undefined))
  return made
}
