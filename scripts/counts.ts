import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Prints how large the program is and what it keeps few of: node scripts/counts.ts. No number fails a check.

const cwd = fileURLToPath(new URL('..', import.meta.url))
const exclude = ['**/node_modules/**', '**/generated/**', '**/dist/**', '**/*.d.ts']
type File = { name: string; text: string }
const filesOf = (...patterns: string[]): File[] =>
  [...new Set(globSync(patterns, { cwd, exclude }))]
    .sort()
    .map((name) => ({ name, text: readFileSync(`${cwd}/${name}`, 'utf8') }))

const linesOf = (files: File[]) => files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
const isTest = ({ name }: File) => /\.test\.tsx?$/.test(name)

const server = filesOf('src/**/*.{ts,js,css}').filter((file) => !isTest(file))
const web = filesOf('web/*.{ts,html}', 'web/src/**/*.{ts,tsx,css}').filter((file) => !isTest(file))
const tests = filesOf('test/**/*.ts', '{src,web,demo,docs,release,client,integrations}/**/*.test.{ts,tsx}')
const papers = filesOf('*.md', '{docs,findings,ops,client,integrations}/**/*.md')
const words = papers.reduce((sum, { text }) => sum + text.split(/\s+/).filter(Boolean).length, 0)
const [schema] = filesOf('src/db/schema.postgres.sql')
const tables = schema?.text.match(/^CREATE TABLE /gm)?.length
const asks_engine = server.filter(
  ({ name, text }) => !name.startsWith('src/db/') && /\bengineOf\b/.test(text),
)
const of_transactions = server.flatMap(({ text }) => text.match(/new WeakMap<(Tx|Db|Transaction)\b/g) ?? [])

/** The functions of a file with their lines. The formatter ends one where its first line begins. */
function closuresOf({ name, text }: File) {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    if (
      !/(=>|\)|\): .*) \{$/.test(line) ||
      /^\s*(\} (else|catch|finally)|if|for|while|switch|class)\b/.test(line)
    )
      return []
    const indent = /^ */.exec(line)?.[0] ?? ''
    const length = lines.slice(index).findIndex((next) => next.startsWith(`${indent}}`)) + 1
    return [{ place: `${name}:${index + 1}`, length }]
  })
}
const longest = [...server, ...web].flatMap(closuresOf).sort((a, b) => b.length - a.length)

const counts = {
  'Lines of the server': linesOf(server),
  'Lines of the web app': linesOf(web),
  'Lines of tests': linesOf(tests),
  'Words of papers': words,
  Tables: tables,
  'Files outside db/ with engineOf': asks_engine.length,
  'WeakMaps keyed by a transaction': of_transactions.length,
}
for (const [name, count] of Object.entries(counts)) console.log(`${name}: ${count?.toLocaleString('en')}`)
for (const { place, length } of longest.slice(0, 5)) console.log(`Function of ${length} lines: ${place}`)
