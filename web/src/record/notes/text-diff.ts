/** A part of a text that both have, or that one of them has. */
export type Part = { text: string; of: 'both' | 'before' | 'after' }

// Words, blanks, and any other character by itself.
const pieces = /[\p{L}\p{M}\p{N}_]+|\s+|[^\p{L}\p{M}\p{N}_\s]/gu
// A comparison of more pieces would take more than 20 ms.
const most_compared = 1_000_000

/** The words that a text lost and gained, in the order of the text. Long different texts are compared as a whole. */
export function diffTexts(before: string, after: string): Part[] {
  const [old, now] = [before.match(pieces) ?? [], after.match(pieces) ?? []]
  const least = Math.min(old.length, now.length)
  let start = 0
  while (start < least && old[start] === now[start]) start++
  let end = 0
  while (end < least - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const [lost, gained] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  const middle =
    lost.length * gained.length > most_compared
      ? [part('before', lost), part('after', gained)]
      : compare(lost, gained)
  return joined([part('both', old.slice(0, start)), ...middle, part('both', old.slice(old.length - end))])
}

const part = (of: Part['of'], texts: readonly string[]): Part => ({ of, text: texts.join('') })

/** The parts without empty ones. Changed words with only a blank between them are one change. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = []
  let change = { before: '', after: '' }
  function end() {
    for (const side of ['before', 'after'] as const)
      if (change[side]) all.push({ of: side, text: change[side] })
    change = { before: '', after: '' }
  }
  for (const [index, { of, text }] of parts.entries()) {
    if (of !== 'both') {
      change[of] += text
      continue
    }
    const goes_on = change.before && change.after && (parts[index + 1]?.of ?? 'both') !== 'both'
    if (goes_on && !text.trim()) {
      change.before += text
      change.after += text
      continue
    }
    end()
    const last = all.at(-1)
    if (last?.of === 'both') last.text += text
    else if (text) all.push({ of, text })
  }
  end()
  return all
}

/** The longest common sequence of pieces, and what is beside it: what was lost comes before what was gained. */
function compare(old: readonly string[], now: readonly string[]): Part[] {
  const width = now.length + 1
  // The length of the common sequence of the rests from (i, j).
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] as number
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const parts: Part[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    const [lost, gained] = [old[i], now[j]]
    if (lost !== undefined && lost === gained) {
      parts.push({ of: 'both', text: lost })
      i++
      j++
    } else if (lost !== undefined && (gained === undefined || at(i + 1, j) >= at(i, j + 1))) {
      parts.push({ of: 'before', text: lost })
      i++
    } else {
      parts.push({ of: 'after', text: gained as string })
      j++
    }
  }
  return parts
}
