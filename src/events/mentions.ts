import type { Tx } from '../db/db.ts'
import { normalForm, normaliseText } from '../db/lists/normalise.ts'
import { prepare } from '../db/statements/prepare.ts'
import type { Context } from './context.ts'
import { formerNames } from './names.ts'
import { notify } from './notify.ts'

// The maximum number of @ signs that are read in a text, and of members whose names are read.
const max_signs = 100
const max_members = 2000

type Member = { id: string; name: string; email: string; former_names?: readonly string[] }

const members = prepare((p: { workspace_id: number }, db) =>
  db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select(['users.id', 'users.name', 'users.email'])
    .where('memberships.workspace_id', '=', p.workspace_id)
    .orderBy('users.id')
    .limit(max_members),
)

// Not within an address such as ana@acme.example.
const sign = /(?<![\p{L}\p{N}_.@+-])@(?=\S)/gu
const end = /(?![\p{L}\p{N}_]|[.@-][\p{L}\p{N}])/uy
// The code units of a text for each of a label, which has no accents on their own, and after it for `end`.
const max_ratio = 2
const max_end = 3

/** The ids of the members whom a text mentions. */
type Find = (text: string) => Set<string>

/**
 * Finds the members whom texts mention: `@` with the name or the e-mail address, in characters that search takes for equal.
 * The longest one counts. A former name counts unless it is the present name of somebody. The time for a text does not grow
 * with the number of members.
 */
export function finderOf(all: readonly Member[]): Find {
  const labels = labelsOf(all)
  const lengths = lengthsByStart(labels.keys())
  const longest = Math.max(0, ...[...lengths.values()].map(([first = 0]) => first))
  const mentionedAt = (text: string, at: number): readonly string[] => {
    const rest = text.slice(at, at + longest * max_ratio + max_end)
    const { plain, places } = folded(rest)
    for (const length of lengths.get(startOf(plain)) ?? []) {
      const ids = labels.get(plain.slice(0, length))
      // A character such as ß is several letters.
      if (!ids || places[length] === places[length - 1]) continue
      end.lastIndex = Math.min(places[length] ?? rest.length, rest.length)
      if (end.test(rest)) return ids
    }
    return []
  }
  return (text) => {
    const composed = normalForm(text, 'NFC')
    const found = new Set<string>()
    sign.lastIndex = 0
    for (let count = 0; count < max_signs && sign.test(composed); count++)
      for (const id of mentionedAt(composed, sign.lastIndex)) found.add(id)
    return found
  }
}

/** The ids of the members of each label. */
function labelsOf(all: readonly Member[]): Map<string, string[]> {
  const present = new Map<string, string[]>()
  const former = new Map<string, string[]>()
  const add = (labels: Map<string, string[]>, text: string, id: string) => {
    const label = folded(text.trim().normalize('NFC')).plain
    const ids = labels.get(label)
    if (!ids) labels.set(label, [id])
    else if (!ids.includes(id)) ids.push(id)
  }
  for (const { id, name, email, former_names = [] } of all) {
    add(present, name, id)
    add(present, email, id)
    for (const text of former_names) add(former, text, id)
  }
  for (const [label, ids] of former) if (!present.has(label)) present.set(label, ids)
  present.delete('')
  return present
}

/** The lengths of the labels with each first word, the longest first. */
function lengthsByStart(labels: Iterable<string>): Map<string, number[]> {
  const by_start = new Map<string, Set<number>>()
  for (const label of labels) {
    const start = startOf(label)
    const lengths = by_start.get(start)
    if (lengths) lengths.add(label.length)
    else by_start.set(start, new Set([label.length]))
  }
  return new Map([...by_start].map(([start, lengths]) => [start, [...lengths].sort((a, b) => b - a)]))
}

// A mention ends where a word ends, so a text has the first word of its label.
const startOf = (label: string): string => label.slice(0, label.search(/[^\p{L}\p{N}_]|$/u))

const ascii = /^[\0-\x7f]*$/
const one_by_one = Array.from({ length: 1000 }, (_, n) => n)

/** A text as search compares it, character by character, and where each of its code units is in the text. */
function folded(text: string): { plain: string; places: readonly number[] } {
  // Each of these characters is one.
  if (text.length <= one_by_one.length && ascii.test(text))
    return { plain: normaliseText(text), places: one_by_one }
  let plain = ''
  const places: number[] = []
  let at = 0
  for (const character of text) {
    const one = normaliseText(character)
    for (let n = 0; n < one.length; n++) places.push(at)
    plain += one
    at += character.length
  }
  return { plain, places }
}

const finderIn = (tx: Tx, workspace_id: number): Promise<Find> =>
  tx.once(`mentions ${workspace_id}`, async (root) => {
    const [all, names] = await Promise.all([members(root, { workspace_id }), formerNames(root, workspace_id)])
    return finderOf(all.map((one) => ({ ...one, former_names: names.get(one.id) ?? [] })))
  })

/** The record that a notification leads to, and its note if the text is one. */
type Place = { kind: string; id: number; note_id?: number }

/**
 * Notifies the members whom the text of a note or an activity mentions, and whom the text before did not. Imports bring
 * old texts, of which nobody is notified.
 */
export async function notifyMentioned(
  tx: Tx,
  context: Context,
  { kind, id, note_id }: Place,
  text: string | null,
  before: string | null = null,
): Promise<void> {
  if (context.source === 'import' || !text || text === before || text.search(sign) < 0) return
  const find = await finderIn(tx, context.workspace_id)
  const known = before ? find(before) : new Set()
  for (const user_id of find(text))
    if (!known.has(user_id))
      notify(tx, context, {
        kind: 'mentioned',
        user_id,
        record_kind: kind,
        record_id: id,
        ...(note_id !== undefined && { note_id }),
      })
}
