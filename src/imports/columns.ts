import type { ImportForm, Room } from '../resources/room.ts'
import type { ProgramColumn, ProgramFile } from './programs/program.ts'

// From the headers of a file to its columns: what each one is, by its header and the program that wrote the file.

/**
 * The target of a column: a field; `company` and the like for a reference by name; `name` to split; a part such as
 * `status` that fields are made of; or `custom_fields.KEY`.
 */
export type Target = string

/** Why a column has no target. */
export type NoTarget = 'no_field' | 'read_only' | 'other_kind' | 'left_out'

export type Column = {
  header: string
  target: Target | null
  reason: NoTarget | null
  /** Of several columns of a field, the one with the highest rank goes first: 2 if the request names its target. */
  rank: 0 | 1 | 2
  /** Whether its header only may be the target: no other column of the file is. */
  is_likely: boolean
  /** The custom field for values that its target does not take; null with rest=ignore. */
  spare_key: string | null
  /** How the program writes its cells. */
  form: Exclude<ProgramColumn, string | null> | null
  /** The index of the column that names what a cell is, such as `Phone 1 - Label`; -1 without one. */
  label_at: number
  /** The index of the column whose text stands before a cell, such as a calling code; -1 without one. */
  prefix_at: number
  /** The index of the column before whose cells its text stands; -1 without one. */
  prefix_of: number
}

export type MappingOptions = {
  /** The target of a column by its header; null: the column is left out. */
  columns: Readonly<Record<string, Target | null>>
  rest: 'custom_fields' | 'ignore'
}

/** A definition of a custom field, whose values have a type. */
export type Defined = { key: string; type: string; label?: string; options?: readonly string[] }

export const custom = 'custom_fields.'
export const max_key_characters = 64
const max_number_characters = 4
// A longer header is not compared with known ones, and not remembered.
export const max_header_characters = 255
// The parser of bodies refuses this key.
const unusable = '__proto__'

/** Without case, blanks and signs: `E-mail 1 - Value` is `email1value`. Empty for a long header, which is not compared. */
export const plain = (header: string) =>
  header.length > max_header_characters ? '' : header.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
/** Without what brackets add: `Deal - Stage (pipeline)`. */
const withoutBrackets = (header: string) => header.replace(/\s*[([][^()[\]]*[)\]]\s*$/, '')

// Programs begin headers with the kind of record: `Person - Name`.
const kinds: Readonly<Record<string, readonly string[]>> = {
  contacts: ['person', 'contact', 'lead', 'kontakt', 'contacto', 'personne', 'persona'],
  companies: [
    'organization',
    'organisation',
    'company',
    'account',
    'organización',
    'unternehmen',
    'firma',
    'entreprise',
  ],
  deals: ['deal', 'opportunity', 'negocio', 'affaire', 'geschäft'],
  activities: ['activity', 'task', 'aktivität', 'aufgabe', 'activité', 'actividad'],
}
const kind_of = new Map(
  Object.entries(kinds).flatMap(([kind, words]) => words.map((word) => [word, kind] as const)),
)
const names_of_kind: Readonly<Record<string, string>> = {
  contacts: 'contact',
  companies: 'company',
  deals: 'deal',
}
/** The headers of another kind that name its record. */
const naming = new Set(['name', 'title', 'titel', 'titre', 'título', 'nom', 'nombre', 'email'])

// The title of a person is a job.
const titles = new Set(['title', 'titel', 'titre', 'título'])

type ColumnSource = {
  room: Room & { import: ImportForm }
  fields: ReadonlySet<string>
  file: ProgramFile | null
  /** Whether Rapport wrote the file: its cells are values, and its read-only columns stay out. */
  is_own: boolean
  defined: readonly Defined[]
}

/** Finds the columns of headers. */
export function createColumns(
  { room, fields, file, is_own, defined }: ColumnSource,
  { columns, rest }: MappingOptions,
) {
  const form = room.import
  const references = new Map(form.by_name.map((field) => [field.replace(/_id$/, ''), field]))
  const parts = Object.keys(form.parts ?? {})
  const targets = [...fields, ...references.keys(), ...(form.split_name ? ['name'] : []), ...parts]
  const named = new Set<string>(targets)
  const known = new Map<string, Target>()
  for (const [target, headers] of Object.entries(form.headers))
    for (const one of headers) known.set(plain(one), target)
  // A header such as `Deal ID` names ids of another program. So an id needs the name of its field, letter for letter.
  const ids = new Set([...Object.keys(room.resource.references), 'owner_id'])
  for (const target of targets) if (!ids.has(target)) known.set(plain(target), target)
  const likely = new Map(
    Object.entries(form.likely_headers ?? {}).flatMap(([target, headers]) =>
      headers.map((one) => [plain(one), target] as const),
    ),
  )
  const of_program = new Map(
    Object.entries(file?.columns ?? {}).map(([header, column]) => [plain(header), column]),
  )
  const read_only = new Set(['id', ...Object.keys(room.resource.columns)])
  const singular = plain(room.resource.noun)
  const own_fields = new Map(
    defined.flatMap(
      ({ key, label = key }) =>
        [
          [plain(key), key],
          [plain(label), key],
        ] as const,
    ),
  )
  // In an export of Rapport, a part such as `status` is a read-only field. `closed_at` is kept.
  const own_parts = parts.filter((part) => part === 'closed_at' || !read_only.has(part))
  const exact = new Set(is_own ? [...fields, ...references.keys(), ...own_parts] : targets)

  function find(header: string): { target: Target | null; reason?: NoTarget; form?: Column['form'] } {
    if (Object.hasOwn(columns, header)) {
      const target = columns[header] as Target | null
      return target === null ? { target, reason: 'left_out' } : { target }
    }
    if (header === '' || header === unusable || header === custom + unusable)
      return { target: null, reason: 'no_field' }
    if (header.startsWith(custom)) return { target: header }
    if (header.length > max_header_characters) return { target: null, reason: 'no_field' }
    const program = of_program.get(plain(header)) ?? of_program.get(plain(withoutBrackets(header)))
    if (program !== undefined) {
      if (program === null) return { target: null, reason: 'no_field' }
      const { to, ...how } = typeof program === 'string' ? { to: program } : program
      // A part of another kind of record, such as the notes of a contact, has no field here.
      return named.has(to) ? { target: to, form: { to, ...how } } : { target: null, reason: 'no_field' }
    }
    if (exact.has(header)) return { target: header }
    if (read_only.has(header)) return { target: null, reason: 'read_only' }
    const of_kind = ofKind(header)
    if (of_kind) return of_kind
    const target =
      known.get(plain(header)) ??
      known.get(plain(withoutBrackets(header))) ??
      known.get(plain(header).replace(singular, ''))
    if (target) return { target }
    const key = own_fields.get(plain(header))
    return key === undefined ? { target: null, reason: 'no_field' } : { target: custom + key }
  }

  /** A header that begins with a kind belongs to it: the name of another kind is a reference, the rest is nothing here. */
  function ofKind(header: string): { target: Target | null; reason?: NoTarget } | null {
    const [, word = '', own = ''] = /^(\p{L}+) - (.+)$/u.exec(header) ?? []
    const kind = kind_of.get(word.toLowerCase())
    if (!kind) return null
    if (kind === room.resource.table) {
      const target = known.get(plain(own)) ?? known.get(plain(withoutBrackets(own)))
      return target ? { target } : null
    }
    const reference = names_of_kind[kind] ?? ''
    const names_it = naming.has(own.toLowerCase()) && (kind === 'deals' || !titles.has(own.toLowerCase()))
    return names_it && references.has(reference)
      ? { target: reference }
      : { target: null, reason: 'other_kind' }
  }

  /** The columns of some headers, in their order. Equal and long headers get keys of their own. */
  function of(headers: readonly string[]): Column[] {
    const certain = headers.map((header) => ({ header, is_likely: false, ...find(header) }))
    const targeted = new Set(certain.map(({ target }) => target))
    const found = certain.map((one): typeof one => {
      const is_free = one.reason === 'no_field' && !of_program.has(plain(one.header))
      const target = is_free && likely.get(plain(one.header))
      if (!target || targeted.has(target)) return one
      targeted.add(target)
      return { header: one.header, target, is_likely: true }
    })
    const taken = new Set(
      found.flatMap(({ target }) => (target?.startsWith(custom) ? target.slice(custom.length) : [])),
    )
    const keyOf = createKeys(taken)
    const at = new Map(headers.map((header, n) => [plain(header), n]))
    const placeOf = (header: string | undefined) =>
      header === undefined ? -1 : (at.get(plain(header)) ?? -1)
    const prefixes = found.map(({ form: how }) => placeOf(how?.prefix))
    return found.map(({ header, target, is_likely, reason, form: how = null }, n) => ({
      header,
      target,
      reason: target === null ? (reason ?? 'no_field') : null,
      is_likely,
      rank: Object.hasOwn(columns, header) ? 2 : how?.first ? 1 : 0,
      spare_key:
        rest === 'ignore' || reason === 'left_out' || (is_own && reason === 'read_only')
          ? null
          : keyOf(header, n),
      form: how,
      label_at: placeOf(how?.label),
      prefix_at: placeOf(how?.prefix),
      prefix_of: prefixes.indexOf(n),
    }))
  }
  return { targets, references, of }
}

/** Gives headers their keys: those that are taken, or are equal so far as a key is long, get a number. */
function createKeys(taken: Set<string>) {
  // The last number behind a beginning: 500 equal headers would try 125,000 keys.
  const numbers = new Map<string, number>()
  return (header: string, place: number): string => {
    const own = header.startsWith(custom) ? header.slice(custom.length) : header
    const name = own === '' || own === unusable ? `Column ${place + 1}` : own
    // A character can have two units.
    const characters = [...name.slice(0, 2 * max_key_characters)].slice(0, max_key_characters)
    const beginning = characters.slice(0, max_key_characters - max_number_characters).join('')
    let key = characters.join('')
    for (let n = numbers.get(beginning) ?? 1; taken.has(key); numbers.set(beginning, n)) {
      const end = ` ${++n}`
      key = characters.slice(0, max_key_characters - end.length).join('') + end
    }
    taken.add(key)
    return key
  }
}
