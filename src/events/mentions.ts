import type { Db } from '../db/db.ts'
import { prepare } from '../db/statements/prepare.ts'
import type { Context } from './context.ts'
import { notify } from './notify.ts'

/** The @ signs of a text that are looked at, and the members of a workspace. */
export const most = { signs: 100, members: 2000 }

type Member = { id: string; name: string; email: string }

const members = prepare((db, p: { workspace_id: number }) =>
  db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select(['users.id', 'users.name', 'users.email'])
    .where('memberships.workspace_id', '=', p.workspace_id)
    .orderBy('users.id')
    .limit(most.members),
)

// Not within an address such as ana@acme.example.
const sign = /(?<![\p{L}\p{N}_.@+-])@(?=\S)/gu
const end = '(?![\\p{L}\\p{N}_]|[.@-][\\p{L}\\p{N}])'

/** The ids of the members whom a text mentions: `@` with the name or the e-mail address. The longest one counts. */
export function mentionedIn(text: string, all: readonly Member[]): Set<string> {
  const composed = text.normalize('NFC')
  const signs = composed.matchAll(sign).take(most.signs).toArray()
  const by_label = new Map<string, string[]>()
  if (!signs.length) return new Set()
  for (const { id, name, email } of all)
    for (const label of [folded(name), folded(email)])
      if (label) by_label.set(label, [...(by_label.get(label) ?? []), id])
  const labels = [...by_label.keys()].sort((a, b) => b.length - a.length)
  if (!labels.length) return new Set()
  const label = new RegExp(`(?:${labels.map((one) => RegExp.escape(one)).join('|')})${end}`, 'iuy')
  const found = new Set<string>()
  for (const { index } of signs) {
    label.lastIndex = index + 1
    const [written = ''] = label.exec(composed) ?? []
    for (const id of by_label.get(folded(written)) ?? []) found.add(id)
  }
  return found
}

const folded = (text: string) => text.trim().normalize('NFC').toLowerCase()

type Note = { id: number; body: string }

/**
 * Notifies the members whom a note of a record mentions, and whom its text before did not. Imports bring old notes, of
 * which nobody is notified.
 */
export async function notifyMentioned(
  tx: Db,
  context: Context,
  record: { kind: string; id: number },
  { id: note_id, body }: Note,
  before = '',
): Promise<void> {
  if (context.source === 'import' || body === before || body.search(sign) < 0) return
  const all = await members(tx, { workspace_id: context.workspace_id })
  const known = mentionedIn(before, all)
  for (const user_id of mentionedIn(body, all))
    if (!known.has(user_id))
      notify(tx, context, {
        ...{ kind: 'mentioned', user_id, note_id },
        ...{ record_kind: record.kind, record_id: record.id },
      })
}
