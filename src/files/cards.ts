import { decode, type Encoding, hasBroken } from './encoding.ts'
import { FileError, type FileRow, invalidEncoding, max_columns, max_row_characters, startOf } from './rows.ts'
import { joinTags } from './tags.ts'

// vCards of the versions 2.1, 3 and 4. A card is a row; its properties are columns.

export type Cards = { format: 'vcf' }

const rows_at_once = 100
// Pictures, sounds and keys. Their bytes are not read.
const max_head_characters = 1000
const is_quoted = /^[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i
const binary = /^(?:[\w-]+\.)?(?:(?:PHOTO|LOGO|SOUND|KEY)[;:]|X-(?=[^:]*;(?:ENCODING=)?(?:B|BASE64)[;:]))/i

/** The cards of a file with a number above `after`. Throws FileError. */
export async function* readCards(
  bytes: AsyncIterable<Buffer>,
  encoding: Encoding,
  after: number,
): AsyncGenerator<FileRow[]> {
  let rows: FileRow[] = []
  let number = 0
  let depth = 0
  let lines: string[] = []
  let characters = 0
  // The parts of the line that has not ended.
  let open: Line | null = null

  function end(): void {
    const whole = open?.parts.join('') ?? ''
    if (/^BEGIN:VCARD\s*$/i.test(whole)) {
      // A card may have another one in it.
      if (depth++) return
      number++
      lines = []
      characters = 0
    } else if (/^END:VCARD\s*$/i.test(whole)) {
      if (depth && !--depth && number > after) rows.push(cardOf(number, lines, characters, encoding))
    } else if (depth === 1 && whole) {
      characters += whole.length
      if (characters <= max_row_characters) lines.push(whole)
    }
  }
  function take(part: string): void {
    const last = open?.parts.at(-1) ?? ''
    if (open && /^[ \t]/.test(part)) add(open, part.slice(1))
    else if (open?.is_quoted && last.endsWith('=')) {
      // A line end within a quoted-printable text.
      open.parts[open.parts.length - 1] = last.slice(0, -1)
      add(open, part)
    } else {
      end()
      open = { parts: [], characters: 0, is_quoted: is_quoted.test(part.slice(0, max_head_characters)) }
      add(open, binary.test(part.slice(0, max_head_characters)) ? '' : part)
      if (binary.test(part.slice(0, max_head_characters))) open.characters = Number.POSITIVE_INFINITY
    }
  }

  let rest = ''
  for await (const text of decode(bytes, encoding)) {
    const parts = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = parts.pop() as string
    if (rest.length > max_row_characters) {
      take(rest)
      rest = ' '
    }
    for (const physical of parts) {
      take(physical)
      if (rows.length < rows_at_once) continue
      yield rows
      rows = []
    }
    yield rows
    rows = []
  }
  take(rest.replace(/\r$/, ''))
  end()
  yield rows
  if (depth) throw new FileError(`The card ${number} has no END:VCARD.`)
}

type Line = { parts: string[]; characters: number; is_quoted: boolean }

/** Adds a part to a line. One character too many shows that the card is too long. */
function add(line: Line, part: string): void {
  if (line.characters > max_row_characters) return
  line.parts.push(part)
  line.characters += part.length
}

function cardOf(number: number, lines: readonly string[], characters: number, encoding: Encoding): FileRow {
  const text = startOf(lines.join('\n').toWellFormed())
  const unread = { number, names: [], values: [], text }
  if (characters > max_row_characters) {
    const message = `The card has more than ${max_row_characters} characters.`
    return { ...unread, problem: { code: 'row_too_long', message } }
  }
  if (lines.some(hasBroken)) return { ...unread, problem: invalidEncoding(encoding) }
  const is_old = lines.some((line) => /^VERSION:2\.1\s*$/i.test(line))
  if (lines.length > max_columns)
    return {
      ...unread,
      problem: { code: 'too_many_names', message: `The card has more than ${max_columns} lines.` },
    }
  const columns = columnsOf(lines.flatMap((line) => propertyOf(line, is_old) ?? []))
  return { number, names: [...columns.keys()], values: [...columns.values()], text }
}

/** A property: its name in capitals, its types in small letters, its group, and its value, not unescaped. */
type Property = {
  name: string
  group: string
  types: readonly string[]
  rank: number
  value: string
  is_old: boolean
}

function propertyOf(line: string, is_old: boolean): Property | null {
  const [, head = '', value = ''] = /^((?:"[^"]*"|[^":])*):([\s\S]*)$/.exec(line) ?? []
  const [first = '', ...parameters] = head.match(/(?:"[^"]*"|[^";])+/g) ?? []
  const dot = first.indexOf('.')
  const [group, name] = [
    first.slice(0, dot + 1).toUpperCase(),
    first
      .slice(dot + 1)
      .trim()
      .toUpperCase(),
  ]
  if (!name) return null
  const types: string[] = []
  let charset = 'utf-8'
  let rank = 101
  for (const parameter of parameters) {
    const [, key = 'TYPE', text = ''] = /^(?:([\w-]+)=)?"?([^"]*)"?$/.exec(parameter.trim()) ?? []
    if (/^TYPE$/i.test(key)) types.push(...text.toLowerCase().split(','))
    if (/^CHARSET$/i.test(key)) charset = text
    if (/^PREF$/i.test(key)) rank = Number(text) || 1
  }
  if (types.includes('pref')) rank = 1
  return { name, group, types, rank, value: is_quoted.test(line) ? unquoted(value, charset) : value, is_old }
}

/** The text of quoted-printable. */
function unquoted(value: string, charset: string): string {
  const bytes = Buffer.from(
    value.replaceAll(/=([0-9A-F]{2})|([^\x00-\x7f])/gi, (_, hex: string | undefined, other: string) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : Buffer.from(other).toString('latin1'),
    ),
    'latin1',
  )
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** Splits a value at a sign that no backslash is before, and takes the backslashes off. */
function valuesOf({ value, is_old }: Property, sign: ';' | ',' | null): string[] {
  const parts: string[] = []
  let part = ''
  for (let at = 0; at < value.length; at++) {
    const next = value[at + 1] ?? ''
    if (value[at] === '\\' && (is_old ? /[\\;,]/ : /[\\;,:nN]/).test(next)) {
      part += next === 'n' || next === 'N' ? '\n' : next
      at++
    } else if (value[at] === sign) {
      parts.push(part)
      part = ''
    } else part += value[at]
  }
  return [...parts, part].map((text) => text.trim())
}
const textOf = (property: Property): string => valuesOf(property, null)[0] as string

// They are about the card, and not about the person.
const ignored = new Set(['VERSION', 'PRODID', 'REV', 'X-ABADR', 'X-ABSHOWAS', 'CALSCALE'])
const names: Readonly<Record<string, string>> = {
  FN: 'Full Name',
  NICKNAME: 'Nickname',
  TITLE: 'title',
  ROLE: 'Role',
  NOTE: 'Note',
  URL: 'Website',
  BDAY: 'Birthday',
  ANNIVERSARY: 'Anniversary',
  // The texts of these properties would be headers of other fields.
  LABEL: 'Address label',
  NAME: 'Name of the card',
  SOURCE: 'Source of the card',
}

/** The columns of a card. A further value of a column has a number behind its name. */
function columnsOf(properties: readonly Property[]): Map<string, string> {
  const columns = new Map<string, string>()
  const put = (name: string, value: string | undefined) => {
    if (!value) return
    let column = name
    for (let n = 2; columns.has(column) && columns.get(column) !== value; n++) column = `${name} ${n}`
    columns.set(column, value)
  }
  const tags: string[] = []
  const labels = labelsOf(properties)
  // The preferred value of several is the first one.
  for (const property of [...properties].sort((a, b) => a.rank - b.rank)) {
    const { name, group, types } = property
    const label = labels.get(group)
    if (name === 'X-ABLABEL') continue
    // People write their own labels. Apple's, such as Home, say as much as a type.
    if (label && !label.is_apple) put('Own label', `${label.text}: ${textOf(property)}`)
    if (name === 'N') {
      const [last, first, middle, prefix, suffix] = valuesOf(property, ';')
      put('first_name', first)
      put('middle_name', middle)
      put('last_name', last)
      put('Name Prefix', prefix)
      put('Name Suffix', suffix)
    } else if (name === 'ORG') {
      const [company, ...units] = valuesOf(property, ';')
      put('company', company)
      put('Department', units.filter(Boolean).join(', '))
    } else if (name === 'TEL')
      put(phoneColumn([...types, ...(label?.types ?? [])]), textOf(property).replace(/^tel:/i, ''))
    else if (name === 'EMAIL') put('email', textOf(property).replace(/^mailto:/i, ''))
    else if (name === 'ADR') put('Address', valuesOf(property, ';').filter(Boolean).join(', '))
    else if (name === 'CATEGORIES') tags.push(...valuesOf(property, ',').filter(Boolean))
    else if (!ignored.has(name))
      put(names[name] ?? (label ? `${name} (${label.text})` : name), textOf(property))
  }
  if (tags.length) columns.set('tags', joinTags(tags))
  return columns
}

type Label = { text: string; is_apple: boolean; types: readonly string[] }

/** The labels that Apple writes beside the properties of a group: `item1.X-ABLabel:_$!<HomeFAX>!$_`. */
function labelsOf(properties: readonly Property[]): Map<string, Label> {
  const labels = new Map<string, Label>()
  for (const property of properties) {
    if (property.name !== 'X-ABLABEL') continue
    const given = textOf(property)
    const text = given.replace(/^_\$!<(.*)>!\$_$/s, '$1')
    const types = ['fax', 'pager', 'mobile', 'iphone'].filter((type) => text.toLowerCase().includes(type))
    labels.set(property.group, { text, is_apple: text !== given, types })
  }
  return labels
}

function phoneColumn(types: readonly string[]): string {
  if (types.includes('fax')) return 'Fax'
  if (types.includes('pager')) return 'Pager'
  return types.some((type) => type === 'cell' || type === 'iphone' || type === 'mobile') ? 'mobile' : 'phone'
}
