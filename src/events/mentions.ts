import type { Db } from '../db/db.ts'
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
const end = '(?![\\p{L}\\p{N}_]|[.@-][\\p{L}\\p{N}])'

/** The ids of the members whom a text mentions. */
type Find = (text: string) => Set<string>

/**
 * Finds the members whom texts mention: `@` with the name or the e-mail address. The longest one counts. A former name counts
 * unless it is the present name of somebody.
 */
export function finderOf(all: readonly Member[]): Find {
  const present = labelsOf(all, ({ name, email }) => [name, email])
  const former = labelsOf(all, ({ former_names = [] }) => former_names)
  const by_label = new Map([...former, ...present])
  const labels = [...by_label.keys()].sort((a, b) => b.length - a.length)
  if (!labels.length) return () => new Set()
  const label = new RegExp(`(?:${labels.map((one) => RegExp.escape(one)).join('|')})${end}`, 'iuy')
  return (text) => {
    const composed = text.normalize('NFC')
    const found = new Set<string>()
    for (const { index } of composed.matchAll(sign).take(max_signs)) {
      label.lastIndex = index + 1
      const [written = ''] = label.exec(composed) ?? []
      for (const id of by_label.get(folded(written)) ?? []) found.add(id)
    }
    return found
  }
}

function labelsOf(all: readonly Member[], namesOf: (member: Member) => readonly string[]) {
  const ids = new Map<string, string[]>()
  for (const member of all)
    for (const label of new Set(namesOf(member).map(folded)))
      if (label) ids.set(label, [...(ids.get(label) ?? []), member.id])
  return ids
}

const folded = (text: string) => text.trim().normalize('NFC').toLowerCase()

// A batch may mention members in 1,000 texts. Their names are read once in a transaction.
const finders = new WeakMap<Db, { workspace_id: number; find: Promise<Find> }>()

function finderIn(tx: Db, workspace_id: number): Promise<Find> {
  const known = finders.get(tx)
  if (known?.workspace_id === workspace_id) return known.find
  const find = Promise.all([members(tx, { workspace_id }), formerNames(tx, workspace_id)]).then(
    ([all, names]) => finderOf(all.map((one) => ({ ...one, former_names: names.get(one.id) ?? [] }))),
  )
  finders.set(tx, { workspace_id, find })
  return find
}

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
