import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser'

// ICU messages as TypeScript: a text without arguments becomes a string, any other one a function with typed arguments.

/** The texts of a room, as its JSON file has them. */
export type Messages = { [key: string]: string | Messages }

/** The types of the arguments of a message, by name. */
export type Arguments = Map<string, string>

/** The parts of a message. Throws if it is not valid, or has a part that TypeScript formats. */
export function parseMessage(message: string): MessageFormatElement[] {
  return parse(message, { ignoreTag: true, requiresOtherClause: true })
}

const isBoolean = (cases: string[]) => cases.every((one) => ['true', 'false', 'other'].includes(one))

/** Calls `visit` for each element of a message, and for those in its cases. */
export function eachElement(
  elements: MessageFormatElement[],
  visit: (element: MessageFormatElement) => void,
): void {
  for (const element of elements) {
    visit(element)
    if (element.type === TYPE.plural || element.type === TYPE.select)
      for (const { value } of Object.values(element.options)) eachElement(value, visit)
  }
}

/** The arguments of a message: {name} is text, {n, number} and a plural are numbers, a select is one of its cases. */
export function argumentsOf(elements: MessageFormatElement[]): Arguments {
  const found: Arguments = new Map()
  eachElement(elements, (element) => {
    const type = typeOf(element)
    if (!type || !('value' in element)) return
    const known = found.get(element.value)
    if (known && known !== type) throw new Error(`{${element.value}} is ${known} and ${type}`)
    found.set(element.value, type)
  })
  return found
}

function typeOf(element: MessageFormatElement): string | null {
  switch (element.type) {
    case TYPE.literal:
    case TYPE.pound:
      return null
    case TYPE.argument:
      return 'string'
    case TYPE.number:
      if (element.style) throw new Error(`{${element.value}} has a style: format it in TypeScript`)
      return 'number'
    case TYPE.plural:
      if (element.offset || element.pluralType === 'ordinal')
        throw new Error(`{${element.value}} has an offset or is an ordinal, which the app does not support`)
      return 'number'
    case TYPE.select: {
      const cases = Object.keys(element.options)
      return isBoolean(cases) ? 'boolean' : cases.map(quoted).join(' | ')
    }
    default:
      throw new Error('A message has text, numbers, plurals and selects. Format dates in TypeScript')
  }
}

const quoted = (text: string) => JSON.stringify(text)
const escaped = (text: string) => text.replace(/[\\`]|\$(?=\{)/g, '\\$&').replaceAll('\n', '\\n')

/** An expression for a message. `counted` is the number that # stands for. */
function expression(elements: MessageFormatElement[], counted = ''): string {
  const parts = elements.map((element) => {
    if (element.type === TYPE.literal) return { text: escaped(element.value) }
    return { code: valueCode(element, counted) }
  })
  const [only] = parts
  if (parts.length === 1 && only?.code) return only.code
  return `\`${parts.map(({ text, code }) => text ?? `\${${code}}`).join('')}\``
}

function valueCode(element: MessageFormatElement, counted: string): string {
  if (element.type === TYPE.pound) return `number(${counted})`
  if (!('value' in element)) throw new Error('This part has no value')
  const value = `values.${element.value}`
  if (element.type === TYPE.number) return `number(${value})`
  if (element.type === TYPE.plural) return choice(element.options, value, (one) => ofPlural(one, value))
  if (element.type !== TYPE.select) return value
  const boolean = isBoolean(Object.keys(element.options))
  return choice(element.options, counted, (one) =>
    boolean ? `${one === 'true' ? '' : '!'}${value}` : `${value} === ${quoted(one)}`,
  )
}

const ofPlural = (one: string, value: string) =>
  one.startsWith('=') ? `${value} === ${one.slice(1)}` : `plural(${value}) === ${quoted(one)}`

/** A chain of conditions, which ends with the case `other`. */
function choice(
  options: Record<string, { value: MessageFormatElement[] }>,
  counted: string,
  condition: (one: string) => string,
): string {
  const { other, ...cases } = options
  // Exact numbers come before the categories of a language.
  const ordered = Object.entries(cases).sort(([a], [b]) => +b.startsWith('=') - +a.startsWith('='))
  const tests = ordered.map(([one, { value }]) => `${condition(one)} ? ${expression(value, counted)} : `)
  return `(${tests.join('')}${expression(other?.value ?? [], counted)})`
}

/** A message as a string, or as a function of its arguments. */
function compileMessage(message: string): string {
  const elements = parseMessage(message)
  const types = [...argumentsOf(elements)].map(([name, type]) => `${name}: ${type}`)
  if (types.length) return `(values: { ${types.join('; ')} }): string => ${expression(elements)}`
  return quoted(elements.map((element) => (element.type === TYPE.literal ? element.value : '')).join(''))
}

function compileObject(messages: Messages, path: string): string {
  const entries = Object.entries(messages).map(([key, value]) => {
    const at = `${path}.${key}`
    if (typeof value === 'object') return `${quoted(key)}: ${compileObject(value, at)}`
    try {
      return `${quoted(key)}: ${compileMessage(value)}`
    } catch (error) {
      throw new Error(`${at}: ${(error as Error).message}`)
    }
  })
  return `{\n${entries.join(',\n')},\n}`
}

/** The texts of a room in a language as a module, which exports them by the name of the room. */
export function compileRoom(
  language: string,
  room: string,
  messages: Messages,
  folder = 'web/src/texts',
): string {
  const texts = compileObject(messages, `${language}/${room}.json`)
  const used = ['number', 'plural'].filter((name) => new RegExp(`${name}\\(values\\.`).test(texts))
  const forms = used.length
    ? `import { forms } from '../../forms.ts'\n\nconst { ${used.join(', ')} } = forms(${quoted(language)})\n`
    : ''
  return `// Generated from ${folder}/${language}/${room}.json by npm run types: do not edit.
${forms}
export const ${room} = ${texts}
`
}
