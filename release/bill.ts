import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

type Component = {
  name: string
  version: string
  'bom-ref': string
  scope?: string
  properties?: { name: string; value: string }[]
}
type Dependency = { ref: string; dependsOn: string[] }
/** The parts of a CycloneDX document that this file changes. */
type Bill = {
  serialNumber?: string
  metadata: { timestamp: string; component: Component }
  components: Component[]
  dependencies: Dependency[]
}

/**
 * A bill of materials in CycloneDX: of the lock file, the packages that the program contains, as docs/licences.md lists
 * them. The same checkout and time give the same text.
 */
export function billOfMaterials(time: Date): string {
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  const all: Bill = JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }))
  const components = containedOf(all).map(({ scope: _, properties: __, ...component }) => component)
  const refs = new Set([all.metadata.component, ...components].map((one) => one['bom-ref']))
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }))
  // npm takes the name of the folder.
  const component = { ...all.metadata.component, name: 'rapport' }
  const metadata = { ...all.metadata, timestamp: time.toISOString(), component }
  const bill = { ...all, serialNumber: undefined, metadata, components, dependencies }
  return `${JSON.stringify({ ...bill, serialNumber: serialOf(bill) }, null, 2)}\n`
}

const isDevelopment = ({ properties = [] }: Component) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')

/** Packages of the web app are of development, too. Of a package with several versions, these are not in the program. */
function containedOf({ components }: Bill): Component[] {
  const names = listedIn(readFileSync(join(root, 'docs/licences.md'), 'utf8'))
  const running = new Set(components.filter((one) => !isDevelopment(one)).map(({ name }) => name))
  return components.filter((one) => names.has(one.name) && !(isDevelopment(one) && running.has(one.name)))
}

/** The names of packages that the page of licences lists. */
export function listedIn(page: string): Set<string> {
  const rows = page.matchAll(/^\| .* \| \d+ \| (.*) \|$/gm)
  return new Set([...rows].flatMap(([, row = '']) => row.split(', ')))
}

function serialOf(bill: object): string {
  const sum = hash('sha256', JSON.stringify(bill))
  // A UUID of version 8: its other bits are free.
  const parts = [
    sum.slice(0, 8),
    sum.slice(8, 12),
    `8${sum.slice(13, 16)}`,
    `8${sum.slice(17, 20)}`,
    sum.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}
