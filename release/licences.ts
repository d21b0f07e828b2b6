import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listedIn } from './bill.ts'
import { platforms } from './node.ts'
import { root } from './root.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const text_file = /^(licen[cs]e|copying|notice)\b.*(?<!\.[jt]s)$/i

/**
 * docs/licences.md, then the licences of its packages in full: most of them ask for that in every copy. Node is left out:
 * releases have its licence where they have Node.
 */
export function licencesWithTexts(): string {
  const page = read('docs/licences.md')
  const listed = listedIn(page)
  for (const node of Object.values(platforms)) listed.delete(node)
  const by_text = new Map<string, Set<string>>()
  for (const path of Object.keys(JSON.parse(read('package-lock.json')).packages)) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (!listed.has(name)) continue
    const text = textOf(path)
    by_text.set(text, (by_text.get(text) ?? new Set()).add(name))
  }
  return [page, ...[...by_text].map(([text, names]) => `## ${[...names].join(', ')}\n\n${text}\n`)].join('\n')
}

function textOf(path: string): string {
  const names = readdirSync(join(root, path)).filter((name) => text_file.test(name))
  if (names.length) return names.map((name) => read(join(path, name)).trim()).join('\n\n')
  const { name, license, author = `The authors of ${name}` } = JSON.parse(read(join(path, 'package.json')))
  const holder = (author.name ?? author).replace(/ [<(].*/, '')
  // Rapport has the first one itself.
  const texts: Record<string, string> = { MIT: read('LICENSE'), ISC: isc }
  const text = texts[license]
  if (text === undefined)
    throw new Error(`${name} has no text of its licence. Add the text of ${license} here.`)
  const own = text.replace(/^Copyright.*$/m, `Copyright (c) ${holder}`).trim()
  return `The package states ${license}, and has no text of it. This is the text, with the author of the package.\n\n${own}`
}

const isc = `ISC License

Copyright

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided
that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,
NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`
