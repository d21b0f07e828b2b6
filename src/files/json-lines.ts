import secureJson from 'secure-json-parse'
import { decode, type Encoding, hasBroken } from './encoding.ts'
import {
  type FileRow,
  invalidEncoding,
  type Lines,
  max_columns,
  max_json_depth,
  max_json_parts,
  max_row_characters,
  type RowProblem,
  startOf,
} from './rows.ts'

// Lines that are parsed at once, in a few milliseconds.
const rows_at_once = 500
const line_end = '\n'.charCodeAt(0)

/** The lines of a JSON lines file with a number above `after`. The lines before them are counted, and not parsed. */
export async function* readLines(
  bytes: AsyncIterable<Buffer>,
  { encoding, max_characters = max_row_characters }: Lines & { encoding: Encoding },
  after: number,
): AsyncGenerator<FileRow[]> {
  let rest = ''
  let number = 0
  const rows: FileRow[] = []
  const take = () => rows.splice(0)
  function addBlank(lines: number) {
    number += lines
    const blank_lines = Math.min(lines, number - after)
    const last = rows.at(-1)
    if (last?.blank_lines) Object.assign(last, { number, blank_lines: last.blank_lines + blank_lines })
    else if (blank_lines > 0) rows.push({ number, names: [], values: [], blank_lines })
  }
  function addLine(line: string) {
    if (line.length <= max_characters && !line.trim()) return addBlank(1)
    if (++number > after)
      rows.push(hasBroken(line) ? brokenLine(number, line, encoding) : lineOf(number, line, max_characters))
  }
  for await (const text of decode(bytes, encoding)) {
    const all = rest + text
    let at = 0
    for (let end = all.indexOf('\n'); end >= 0; end = all.indexOf('\n', at)) {
      const blank_lines = lineEndsAt(all, at)
      if (blank_lines) addBlank(blank_lines)
      else addLine(all.slice(at, end))
      at = end + (blank_lines || 1)
      if (rows.length >= rows_at_once) yield take()
    }
    // Of a longer line, this is enough to see that it is too long.
    rest = all.slice(at, at + max_characters + 1)
    yield take()
  }
  if (rest) addLine(rest)
  yield take()
}

/** The number of line ends that follow each other. A search for each of them would take ten times as long. */
function lineEndsAt(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === line_end) at++
  return at - from
}

const brokenLine = (number: number, line: string, encoding: Encoding): FileRow => ({
  number,
  names: [],
  values: [],
  text: startOf(line.toWellFormed()),
  problem: invalidEncoding(encoding),
})

/** The value of a text of JSON. Throws, as for a body, also for the name __proto__. */
export const parseJson = (text: string): unknown => secureJson.parse(text)

function lineOf(number: number, line: string, max_characters: number): FileRow {
  const unread = (code: RowProblem['code'], message: string): FileRow => ({
    number,
    names: [],
    values: [],
    text: startOf(line),
    problem: { code, message },
  })
  if (line.length > max_characters)
    return unread('row_too_long', `The line has more than ${max_characters} characters.`)
  const problem = excessOf(line)
  if (problem) return unread(problem.code, problem.message)
  let value: unknown
  try {
    value = parseJson(line)
  } catch {
    return unread('invalid_json', 'The line is not valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unread('not_an_object', 'The line is not a JSON object.')
  const names = Object.keys(value)
  if (names.length > max_columns)
    return unread('too_many_names', `The line has more than ${max_columns} names.`)
  return { number, names, values: Object.values(value), text: line }
}

const [quote, backslash, comma, colon, open_list, close_list, open_object, close_object] = [
  ...'"\\,:[]{}',
].map((sign) => sign.charCodeAt(0))

/** The limit that a text of JSON is beyond. It counts before the text is parsed. */
export function excessOf(text: string): RowProblem | null {
  let depth = 0
  let parts = 1
  let is_quoted = false
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (is_quoted) {
      if (sign === backslash) at++
      else if (sign === quote) is_quoted = false
    } else if (sign === quote) is_quoted = true
    else if (sign === comma || sign === colon) parts++
    else if (sign === close_list || sign === close_object) depth--
    else if (sign === open_list || sign === open_object) {
      parts++
      if (++depth > max_json_depth)
        return { code: 'too_deep', message: `The JSON is nested deeper than ${max_json_depth} levels.` }
    }
  }
  return parts > max_json_parts
    ? { code: 'too_many_names', message: `The JSON has more than ${max_json_parts} names and values.` }
    : null
}
