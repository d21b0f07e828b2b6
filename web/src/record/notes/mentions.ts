// A mention is `@` with the name or the e-mail address of a member, in the text as people read it. The service finds
// the mentions of a note by the same rule (src/events/mentions.ts).

import { plainText } from '../../app/plain-text.ts'

export type Mentionable = { id: string; name: string; email: string; former_names?: readonly string[] }

const before_sign = '(?<![\\p{L}\\p{N}_.@+-])'
const sign = new RegExp(`${before_sign}@(?=\\S)`, 'gu')
const end = /(?![\p{L}\p{N}_]|[.@-][\p{L}\p{N}])/uy
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
  const same = (other: Mentionable) => other.id !== id && plainText(other.name) === plainText(name)
  return `@${members.some(same) ? email : name.trim()}`
}

/** A text with a mention in place of what is being written, and the place of the caret after it. */
export function completed(text: string, { at, query }: Written, mention: string) {
  const rest = text.slice(at + 1 + query.length)
  const start = `${text.slice(0, at)}${mention}${/^\s/.test(rest) ? '' : ' '}`
  return { text: start + rest, caret: start.length + (/^\s/.test(rest) ? 1 : 0) }
}

/** A text as it is compared, character by character, and where each of its code units is in the text. */
function folded(text: string): { plain: string; places: number[] } {
  let plain = ''
  const places: number[] = []
  let at = 0
  for (const character of text) {
    const one = plainText(character)
    for (let n = 0; n < one.length; n++) places.push(at)
    plain += one
    at += character.length
  }
  return { plain, places }
}

/** The parts of a text. Every second one is a mention of members. */
export function splitMentions(text: string, members: readonly Mentionable[]): string[] {
  const labels = members
    .flatMap(({ name, email, former_names = [] }) => [name, email, ...former_names])
    .flatMap((label) => folded(label.trim()).plain || [])
    .sort((a, b) => b.length - a.length)
  const { plain, places } = folded(text)
  const endOf = (label: string, start: number): number | null => {
    const after = start + label.length
    // A character such as ß is several letters.
    if (!plain.startsWith(label, start) || places[after] === places[after - 1]) return null
    end.lastIndex = places[after] ?? text.length
    return end.test(text) ? end.lastIndex : null
  }
  const parts: string[] = []
  let from = 0
  for (const { index } of text.matchAll(sign)) {
    const start = places.indexOf(index) + 1
    const found = labels.find((label) => endOf(label, start) !== null)
    if (found === undefined) continue
    const mention_end = endOf(found, start) as number
    parts.push(text.slice(from, index), text.slice(index, mention_end))
    from = mention_end
  }
  return [...parts, text.slice(from)]
}

/** The members whom a label mentions. A former name counts unless it is the present name of somebody. */
export function mentionedBy<One extends Mentionable>(label: string, members: readonly One[]) {
  const wanted = plainText(label)
  const is = (text: string) => plainText(text.trim()) === wanted
  const present = members.filter(({ name, email }) => is(name) || is(email))
  return present.length
    ? { found: present, former: false }
    : { found: members.filter(({ former_names = [] }) => former_names.some(is)), former: true }
}
