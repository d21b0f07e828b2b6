import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

// Checks the documentation for long sentences, for phrases that STYLE.md forbids, and for the form of decision records. The
// style asks for 20 words; the check fails above 30, so that it does not argue about one word.

const max_words = 30
const phrases = [
  /\bany more\b/i,
  /\bfor ever\b/i,
  /\b(?<!there )((is|are|was) no (?!longer\b)|knows? no\b)/i,
  /\b(as good as|taken up|who(so)?ever|whosever|told)\b/i,
  /^(What|Who|Those|One that)\b(?!.*\?$)/,
]

const root = new URL('..', import.meta.url)
// licences.md is generated and has long lists of names.
const pages = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md'], {
  cwd: fileURLToPath(root),
  exclude: ['docs/licences.md'],
})
  .filter((page) => !/^(STYLE|ARCHITECTURE|CONTRIBUTING|CHANGELOG|LICENSE)/.test(page))
  .sort()

const blank = (text: string) => text.replace(/[^\n]/g, ' ')
/** Removes code, generated blocks, headings and link targets. Line numbers stay the same. */
const proseOf = (page: string): string =>
  page
    .replace(/^```.*?^```/gms, blank)
    .replace(/<!-- .*?<!-- end -->/gs, blank)
    .replace(/^#.*$/gm, blank)
    .replace(/`[^`\n]+`/g, '`x`')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/\*\*/g, '')

/** Yields each sentence with the first line of its paragraph. A list item or table cell is a paragraph. */
function* sentencesOf(prose: string) {
  let line = 1
  for (const paragraph of prose.split(/(?=\n\n|\n *(?:[-*]|\d+\.) |\n\||(?<= )\| )/)) {
    const text = paragraph.replace(/^[\s|]*([-*]|\d+\.) /, '').replace(/[\s|]+/g, ' ')
    const first = line + (/^\n*/.exec(paragraph)?.[0].length ?? 0)
    for (const sentence of text.split(/(?<=[.!?:;]\*?)\s+/)) yield { line: first, sentence: sentence.trim() }
    line += paragraph.split('\n').length - 1
  }
}

const wordsIn = (sentence: string) =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length

const max_lines = 60
const dated = /^# (\d{4}) .+\n\nDate: \d{4}-\d\d-\d\d\. Status: .+\n/
const parts = '## Context, ## Decision, ## Rejected options'

let found = 0
function report(page: string, line: number, problem: string, sentence: string): void {
  found++
  console.error(`${page}:${line} ${problem}: ${sentence}`)
}
for (const page of pages.filter((one) => /decisions\/\d/.test(one))) {
  const text = readFileSync(new URL(page, root), 'utf8')
  if (dated.exec(text)?.[1] !== basename(page).slice(0, 4) || text.match(/^##.*/gm)?.join(', ') !== parts)
    report(page, 1, 'not a record', `A record has its number, its date and status, and ${parts}.`)
  if (text.split('\n').length > max_lines + 1) report(page, 1, 'too long', `At most ${max_lines} lines.`)
}
for (const page of pages)
  for (const { line, sentence } of sentencesOf(proseOf(readFileSync(new URL(page, root), 'utf8')))) {
    if (wordsIn(sentence) > max_words) report(page, line, `${wordsIn(sentence)} words`, sentence)
    const phrase = phrases.map((one) => one.exec(sentence)?.[0]).find(Boolean)
    if (phrase) report(page, line, `"${phrase.trim()}"`, sentence)
  }
if (found) console.error(`STYLE.md: ${found} to mend. Split long sentences; replace the phrases.`)
process.exitCode = found ? 1 : 0
