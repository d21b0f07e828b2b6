import type { Db } from '../db/db.ts'
import { onceIn } from '../db/statements/bulk.ts'
import { prepare } from '../db/statements/prepare.ts'
import type { Context } from './context.ts'
import { formerNames } from './names.ts'
import { notify } from './notify.ts'

// The maximum number of @ signs that are read in a text, and of members whose names are read.
const max_signs = 100
const max_members = 2000

type Member = { id: string; name: string; email: string; former_names?: readonly string[] }

const members = prepare((db, p: { workspace_id: number }) =>
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
// The code units after a label that `end` looks at.
const max_end = 3

/** The ids of the members whom a text mentions. */
type Find = (text: string) => Set<string>

/**
 * Finds the members whom texts mention: `@` with the name or the e-mail address. The longest one counts. A former name counts
 * unless it is the present name of somebody. The time for a text does not grow with the number of members.
 */
export function finderOf(all: readonly Member[]): Find {
  const present = labelsOf(all, ({ name, email }) => [name, email])
  const former = labelsOf(all, ({ former_names = [] }) => former_names)
  const by_label = new Map([...former, ...present])
  const longestLabel = labelFinder(by_label)
  return (text) => {
    const composed = text.normalize('NFC')
    const found = new Set<string>()
    for (const { index } of composed.matchAll(sign).take(max_signs))
      for (const id of by_label.get(longestLabel(composed, index + 1)) ?? []) found.add(id)
    return found
  }
}

/** Finds the longest label at a place of a text; '' for none. It looks up one text for each length of the labels that begin alike. */
function labelFinder(labels: ReadonlyMap<string, unknown>) {
  const by_start = new Map<string, Set<number>>()
  for (const label of labels.keys()) {
    const start = startOf(label)
    by_start.set(start, (by_start.get(start) ?? new Set()).add(label.length))
  }
  const lengths = new Map([...by_start].map(([start, all]) => [start, [...all].sort((a, b) => b - a)]))
  const longest = Math.max(0, ...[...lengths.values()].map(([first = 0]) => first))
  return (text: string, at: number): string => {
    const rest = folded(text.slice(at, at + longest + max_end))
    const isWhole = (label: string) => {
      end.lastIndex = label.length
      return labels.has(label) && end.test(rest)
    }
    const candidates = lengths.get(startOf(rest))?.map((length) => rest.slice(0, length))
    return candidates?.find(isWhole) ?? ''
  }
}

// The first word. A mention ends where a word ends, so a text has the first word of its label.
const startOf = (label: string): string => /^[\p{L}\p{N}_]*/u.exec(label)?.[0] ?? ''

function labelsOf(all: readonly Member[], namesOf: (member: Member) => readonly string[]) {
  const ids = new Map<string, string[]>()
  for (const member of all)
    for (const label of new Set(namesOf(member).map(folded)))
      if (label) ids.set(label, [...(ids.get(label) ?? []), member.id])
  return ids
}

// In lower case, the form of a sigma depends on the text after it.
const folded = (text: string) => text.trim().normalize('NFC').toLowerCase().replaceAll('ς', 'σ')

const finderIn = (tx: Db, workspace_id: number): Promise<Find> =>
  onceIn(tx, `mentions ${workspace_id}`, async (root) => {
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
  tx: Db,
  context: Context,
  { kind, id, note_id }: Place,
  text: string | null,
  before: string | null = null,
): Promise<void> {
  if (context.source === 'import' || !text || text === before || text.search(sign) < 0) return
  const find = await finderIn(tx, context.workspace_id)
  const known = find(before ?? '')
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
