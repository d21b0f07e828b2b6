// A mention is `@` with the name or the e-mail address of a member, in the text as people read it. The service finds
// the mentions of a note by the same rule (src/events/mentions.ts).

import { plainText } from '../../app/plain-text.ts'

export type Mentionable = { id: string; name: string; email: string; former_names?: readonly string[] }

const before_sign = '(?<![\\p{L}\\p{N}_.@+-])'
const end = '(?![\\p{L}\\p{N}_]|[.@-][\\p{L}\\p{N}])'
const longest_query = 60
// They fit without scrolling.
const most_offered = 6

/** A mention that is being written: where its `@` is, and the text after it. */
export type Written = { at: number; query: string }

/** The mention that ends at the caret, or null. */
export function writtenAt(text: string, caret: number): Written | null {
  // With the character before the sign.
  const line = text.slice(Math.max(0, caret - longest_query - 2), caret)
  const [, query] = new RegExp(`${before_sign}@([^@\\n]{0,${longest_query}})$`, 'u').exec(line) ?? []
  return query === undefined || query.startsWith(' ') ? null : { at: caret - query.length - 1, query }
}

/** The members that go with a text after `@`: by the start of a word of the name, or of the address. */
export function offered<One extends Mentionable>(members: readonly One[], query: string): One[] {
  const wanted = plainText(query)
  const fits = ({ name, email }: One) =>
    ` ${plainText(name)}`.includes(` ${wanted}`) || plainText(email).startsWith(wanted)
  return members.filter(fits).slice(0, most_offered)
}

/** The text that mentions a member: the name, or the address if another member has the same name. */
export function mentionOf({ id, name, email }: Mentionable, members: readonly Mentionable[]): string {
  const same = (other: Mentionable) => other.id !== id && other.name.toLowerCase() === name.toLowerCase()
  return `@${members.some(same) ? email : name.trim()}`
}

/** A text with a mention in place of what is being written, and the place of the caret after it. */
export function completed(text: string, { at, query }: Written, mention: string) {
  const rest = text.slice(at + 1 + query.length)
  const start = `${text.slice(0, at)}${mention}${/^\s/.test(rest) ? '' : ' '}`
  return { text: start + rest, caret: start.length + (/^\s/.test(rest) ? 1 : 0) }
}

const special = /[\\^$.*+?()[\]{}|/]/g

/** Finds the mentions of members in a text. Null without members. */
export function mentionPattern(members: readonly Mentionable[]): RegExp | null {
  const labels = members
    .flatMap(({ name, email, former_names = [] }) => [name, email, ...former_names])
    .flatMap((label) => label.trim() || [])
  if (!labels.length) return null
  const longest_first = labels.sort((a, b) => b.length - a.length)
  const any = longest_first.map((label) => label.replace(special, '\\$&')).join('|')
  return new RegExp(`(${before_sign}@(?:${any})${end})`, 'giu')
}

/** The members whom a label mentions. A former name counts unless it is the present name of somebody. */
export function mentionedBy<One extends Mentionable>(label: string, members: readonly One[]) {
  const wanted = label.toLowerCase()
  const is = (text: string) => text.trim().toLowerCase() === wanted
  const present = members.filter(({ name, email }) => is(name) || is(email))
  return present.length
    ? { found: present, former: false }
    : { found: members.filter(({ former_names = [] }) => former_names.some(is)), former: true }
}
