import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { normaliseText } from '../../db/lists/normalise.ts'
import { emailKey, lowerCased, phoneKey, sameText, withoutSeparators } from '../../db/lists/same-text.ts'
import { searchWords } from '../../db/lists/search.ts'
import { formsOf, numberIn } from '../../db/lists/search-numbers.ts'
import { createPace } from '../../db/pace.ts'
import type { Resource } from '../../resources/resource.ts'
import { entriesOf } from './slices.ts'

// How texts beside the record name it: by values that it has or had.

/** Values of an erased record, present and former, as texts are compared with them. Companies have a number alone. */
export type Named = {
  emails: string[]
  /** Without separators. */
  phones: string[]
  first_names: string[]
  last_names: string[]
}

const fields = ['email', 'phone', 'mobile', 'first_name', 'last_name']
// A shorter number would be found within many others.
const min_digits = 6

/** Reads the values from the row of a record and from its audit entries. */
export async function readNamed(
  db: Db,
  workspace_id: number,
  { table, columns }: Resource,
  id: number,
): Promise<Named> {
  const names = fields.filter((name) => name in columns)
  if (!names.length) return { emails: [], phones: [], first_names: [], last_names: [] }
  const { rows } = await sql<Record<string, unknown>>`
    SELECT ${sql.join(names.map((name) => sql.ref(name)))} FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id = ${id}`.execute(db)
  const sides = [...rows]
  const pace = createPace()
  for await (const ids of entriesOf(db, workspace_id, table, [id])) {
    const entries = await db
      .selectFrom('audit_log')
      .select(['before', 'after'])
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', ids)
      .execute()
    for (const text of entries.flatMap(({ before, after }) => [before, after]))
      if (text) {
        // Do not keep the whole history in memory.
        const side: Record<string, unknown> = JSON.parse(text)
        sides.push(Object.fromEntries(names.map((name) => [name, side[name]])))
      }
    await pace()
  }
  const valuesOf = (...some: string[]) => [
    ...new Set(
      sides.flatMap((side) => some.map((name) => side[name])).filter((value) => typeof value === 'string'),
    ),
  ]
  const phones = new Set(
    valuesOf('phone', 'mobile').flatMap((one) => [phoneKey(one), withoutSeparators(one)]),
  )
  return {
    emails: [...new Set(valuesOf('email').flatMap((one) => [emailKey(one), lowerCased(sameText(one))]))],
    phones: [...phones].filter((one) => one.replaceAll(/\D/g, '').length >= min_digits),
    first_names: valuesOf('first_name'),
    last_names: valuesOf('last_name'),
  }
}

const wordsOf = (text: string): string[] =>
  normaliseText(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
type Names = Map<string, string[][]>
/** Names as lists of words, by their first word. */
function byFirstWord(names: readonly string[]): Names {
  const by_word: Names = new Map()
  for (const name of new Set(names.map((one) => wordsOf(one).join(' ')))) {
    const words = name.split(' ')
    const [first] = words
    if (first) by_word.set(first, [...(by_word.get(first) ?? []), words])
  }
  return by_word
}

/** The names that stand at a place in a list of words. */
const namesAt = (names: Names, words: readonly string[], at: number): string[][] =>
  (names.get(words[at] ?? '') ?? []).filter((name) => name.every((word, n) => words[at + n] === word))

/** Makes the two judges of texts that may name an erased person. */
export function createNaming({ emails, phones, first_names, last_names }: Named) {
  const firsts = byFirstWord(first_names)
  const lasts = byFirstWord(last_names)
  /** Whether a first and a last name stand beside each other. A record may have had thousands of both. */
  const hasFullName = (words: readonly string[]) =>
    words.some((_, at) =>
      [
        [firsts, lasts],
        [lasts, firsts],
      ].some(([one, other]) =>
        namesAt(one as Names, words, at).some(
          (name) => namesAt(other as Names, words, at + name.length).length > 0,
        ),
      ),
    )
  const searched = [...new Set([...first_names, ...last_names, ...emails].map(normaliseText))]
  const name_words = new Set([...first_names, ...last_names].flatMap(wordsOf))

  /** Whether a text has an e-mail address, a telephone number or the full name of the person. */
  function names(text: string): boolean {
    const lower = lowerCased(sameText(text))
    if (emails.some((email) => lower.includes(email))) return true
    const digits = phones.length ? withoutSeparators(text) : ''
    if (phones.some((phone) => digits.includes(phone))) return true
    return hasFullName(wordsOf(text))
  }

  /** Whether the search finds the person by a number in a text, which may be a part of theirs. */
  function hasNumber(text: string): boolean {
    const number = numberIn(text)
    if (!number || number.digits.length < min_digits) return false
    const { digits, is_whole } = number
    const forms = is_whole ? formsOf(digits) : []
    return phones.some((phone) => phone.includes(digits) || forms.includes(phone))
  }

  /** Whether a text that selects records selects the person by a name: each word is found, and one is a whole name. */
  function selects(text: string): boolean {
    if (names(text) || hasNumber(text)) return true
    const words = searchWords(text)
    return (
      words.every((word) => searched.some((one) => one.includes(word))) &&
      words.some((word) => wordsOf(word).some((part) => name_words.has(part)))
    )
  }
  return { names, selects }
}
export type Naming = ReturnType<typeof createNaming>
