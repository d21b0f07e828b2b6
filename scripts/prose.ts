import { globSync, readFileSync } from 'node:fs'
import { basename, matchesGlob, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

// Checks the documentation and the comments of the sources for long sentences and for phrases that STYLE.md forbids, and decision
// records for their form. The style asks for 20 words; the check fails above 30, so that it does not argue about one word.
// With names of files, it checks these only.

const max_words = 30
const phrases = [
  /\bany more\b/i,
  /\bfor ever\b/i,
  /\b(?<!there )((is|are|was) no (?!longer\b)|knows? no\b)/i,
  /\b(as good as|taken up|who(so)?ever|whosever|told)\b/i,
  /^(What|Who|Those|One that)\b(?!.*\?$)/,
]

const root = new URL('..', import.meta.url)
const asked = process.argv.slice(2).map((file) => resolve(file))
const filesIn = (pattern: string, exclude: string[]) =>
  asked.length
    ? asked.filter((file) => matchesGlob(basename(file), basename(pattern)))
    : globSync(pattern, { cwd: fileURLToPath(root), exclude }).sort()
// licences.md is generated and has long lists of names. STYLE.md quotes what it forbids.
const pages = filesIn('{.,docs,docs/decisions}/*.md', ['docs/licences.md', 'STYLE.md'])
const sources = filesIn(
  '{src,web/src,client,integrations,test,scripts,bench,release,demo,docs}/**/*.{ts,tsx,js,css}',
  ['**/node_modules/**', '**/generated/**', '**/dist/**', '**/*.d.ts'],
)

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

/** Keeps the comments that begin a line, without those for programs. Line numbers stay the same. */
function commentsOf(source: string): string {
  let inside = false
  const lines = source.split('\n').map((line) => {
    const [, mark] = /^\s*(\/\/|\/\*)/.exec(line) ?? []
    const is_comment = inside || mark
    if (mark === '/*') inside = true
    if (inside && line.includes('*/')) inside = false
    if (!is_comment || /biome-ignore|@ts-|\/\/ runs:/.test(line)) return ''
    return line.replace(/^\s*(\/\/+|\/\*+|\*(?!\/))?\s*/, '').replace(/\s*\*\/.*/, '')
  })
  return lines.join('\n')
}

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
function checkSentences(page: string, prose: string): void {
  for (const { line, sentence } of sentencesOf(prose)) {
    if (wordsIn(sentence) > max_words) report(page, line, `${wordsIn(sentence)} words`, sentence)
    const phrase = phrases.map((one) => one.exec(sentence)?.[0]).find(Boolean)
    if (phrase) report(page, line, `"${phrase.trim()}"`, sentence)
  }
}
const read = (file: string) => readFileSync(new URL(file, root), 'utf8')
for (const page of pages) checkSentences(page, proseOf(read(page)))
for (const source of sources) checkSentences(source, proseOf(commentsOf(read(source))))
if (found) console.error(`STYLE.md: ${found} to mend. Split long sentences; replace the phrases.`)
process.exitCode = found ? 1 : 0
