import { isObjectSchema, type ObjectSchema } from './schemas.ts'

// The names that generated clients have for operations, bodies and answers. They follow from the path, the method and
// the answer of a declaration. So a new operation needs no names of its own.

/** The part of a declaration that names follow from. */
export type Named = {
  /** Such as /api/v1/contacts/:id. */
  path: string
  /** The id of the operation, if the derived one is bad English or taken. */
  id?: string
  answers: Record<number, unknown>
}

// The last parts of paths that are verbs although they are read by GET.
const verbs_of_get = new Set(['explain', 'export', 'stream'])

/** `booking-pages` becomes BookingPages. */
export const pascal = (words: string): string =>
  words.replaceAll(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase())

const camel = (words: string): string => words.charAt(0).toLowerCase() + words.slice(1)

/** `companies` becomes `company`. */
export const singular = (noun: string): string =>
  noun.endsWith('ies') ? `${noun.slice(0, -3)}y` : noun.replace(/(?<!s)s$/, '')

/** The words of a path: its literals, each with whether a parameter follows. */
function wordsOf(path: string): { word: string; named: boolean }[] {
  const parts = path.split('/').slice(3)
  return parts.flatMap((word, index) =>
    word.startsWith(':') ? [] : [{ word, named: parts[index + 1]?.startsWith(':') === true }],
  )
}

/** The noun of the records at the end of a path: /api/v1/contacts/:id/notes has `ContactNote`. */
export const nounOf = (path: string): string =>
  wordsOf(path)
    .map(({ word }) => pascal(singular(word)))
    .join('')

const isList = (answers: Named['answers']): boolean =>
  isObjectSchema(answers[200]) && answers[200].properties.meta !== undefined

/** The id of an operation: createContact, listContactNotes, changeDealStage. The one of the declaration wins. */
export function operationId(method: string, { path, id, answers }: Named): string {
  // PATCH is the alias of a PUT, whose declaration it shares.
  if (method === 'patch') return `patch${nounOf(path)}`
  if (id !== undefined) return id
  const words = wordsOf(path)
  const last = words.pop() ?? { word: 'index', named: true }
  const owners = words.map(({ word }) => pascal(singular(word))).join('')
  const noun = owners + pascal(singular(last.word))
  if (method === 'put') return `update${noun}`
  if (method === 'delete') return `delete${noun}`
  if (last.named) return `${method}${noun}`
  if (method === 'post') return 200 in answers && owners ? verb(words, last.word) : `create${noun}`
  if (verbs_of_get.has(last.word)) return verb(words, last.word)
  if (isList(answers)) return `list${owners}${pascal(last.word)}`
  // Not a record of its owner: /api/v1/reports/pipeline.
  if (words.at(-1)?.named === false) return `get${pascal(last.word)}${owners}`
  return `get${owners}${pascal(last.word)}`
}

// change-stage of a deal: changeDealStage. A verb of all contacts: batchContacts.
function verb(owners: ReturnType<typeof wordsOf>, name: string): string {
  const [first = '', ...rest] = name.split('-')
  const nouns = owners.map(({ word, named }) => pascal(named ? singular(word) : word))
  return first + nouns.join('') + pascal(rest.join('-'))
}

/** The name of a body as a component: ContactCreate, ContactUpdate, ChangeDealStageBody. */
export function bodyName(operation_id: string): string {
  const [, operation, noun] = /^(create|update)(.+)$/.exec(operation_id) ?? []
  return operation ? `${noun}${pascal(operation)}` : `${pascal(operation_id)}Body`
}

/** The name of an answer as a component: ContactAnswer for each one contact, ContactsPage for a list. */
export function answerName(operation_id: string, { properties }: ObjectSchema): string {
  const { data, meta } = properties
  if (meta && operation_id.startsWith('list')) return `${pascal(operation_id.slice(4))}Page`
  const { title = pascal(operation_id.replace(/^get/, '')) } = data as { title?: string }
  return `${title}Answer`
}

/**
 * Throws if two operations have the same id, or one has none that a program can use as a name. The message says what to
 * change.
 */
export function checkIds(operations: readonly { name: string; id: string }[]): void {
  const names = new Map<string, string>()
  const advice = 'Give the operation an `id` in its declaration, such as `endSession`.'
  for (const { name, id } of operations) {
    if (!/^[a-z][a-zA-Z0-9]*$/.test(id)) throw new TypeError(`${name} has the id "${id}". ${advice}`)
    const taken = names.get(id)
    if (taken) throw new TypeError(`${name} and ${taken} have the same id, ${id}. ${advice}`)
    names.set(id, name)
  }
}

/** The name of the group of an operation in a client, by its tag: bookingPages. */
export const groupName = (tag: string): string => camel(pascal(tag))

/** The name of an operation in its group: createContact of contacts is `create`, listContactNotes is `listNotes`. */
export function methodName(operation_id: string, tag: string): string {
  for (const noun of [pascal(tag), pascal(singular(tag))]) {
    const without = operation_id.replace(new RegExp(`(?<=[a-z])${noun}(?=[A-Z]|$)`), '')
    if (without !== operation_id) return without
  }
  return operation_id
}
