import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildClient } from '../scripts/build-client.ts'
import { buildBinary } from './binary.ts'
import { build } from './build.ts'
import { keepDatabase } from './database.ts'
import { here, isPlatform, lockedNode, nodeFor, type Platform, platforms } from './node.ts'
import { root } from './root.ts'
import { tryProgram } from './trial.ts'

// Makes everything that a release publishes, in artefacts/: node release/release.ts [--platforms all | linux-x64,darwin-arm64]

const { values } = parseArgs({ options: { platforms: { type: 'string', default: here } } })
const names = values.platforms === 'all' ? Object.keys(platforms) : values.platforms.split(',')
const unknown = names.find((name) => !isPlatform(name))
if (unknown !== undefined) throw new Error(`There is no executable for ${unknown}.`)

const target = join(root, 'artefacts')
const dist = join(root, 'dist')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

rmSync(target, { recursive: true, force: true })
mkdirSync(target)
await build(dist)
execFileSync('npm', ['pack', '--silent', dist, buildClient()], { cwd: target })
for (const platform of names as Platform[]) await packBinary(platform)
writeFileSync(join(target, `rapport-${version}.cdx.json`), bill())
writeFileSync(join(target, 'SHA256SUMS'), checksums())
await keepDatabase()
console.log(`artefacts/ has:\n${readFileSync(join(target, 'SHA256SUMS'), 'utf8')}`)

/** An archive of the executable for a platform, with its licences. It is tried first if it can run here. */
async function packBinary(platform: Platform) {
  const name = `rapport-${version}-${platform}`
  const folder = join(target, name)
  const program = await buildBinary(platform, dist, folder)
  if (platform === here) await inScratch((scratch) => tryProgram(program, scratch, { HOME: scratch }))
  for (const file of ['LICENSE', 'licences.md']) cpSync(join(dist, file), join(folder, file))
  const node = dirname(dirname(nodeFor(platform, lockedNode(platform).version)))
  // The package for Windows has none.
  if (existsSync(join(node, 'LICENSE'))) cpSync(join(node, 'LICENSE'), join(folder, 'LICENSE.node'))
  if (platform.startsWith('linux')) cpSync(join(root, 'release/install.sh'), join(folder, 'install.sh'))
  execFileSync('tar', ['-czf', `${name}.tar.gz`, basename(folder)], { cwd: target })
  rmSync(folder, { recursive: true })
}

async function inScratch(work: (folder: string) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-release-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

type Component = { name: string; 'bom-ref': string }

/** A bill of materials in CycloneDX: of the lock file, the packages that the program contains, as docs/licences.md lists them. */
function bill(): string {
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  const all = JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }))
  const page = readFileSync(join(root, 'docs/licences.md'), 'utf8')
  const contained = new Set(
    [...page.matchAll(/^\| .* \| \d+ \| (.*) \|$/gm)].flatMap(([, row = '']) => row.split(', ')),
  )
  const components = all.components.filter(({ name }: Component) => contained.has(name))
  const refs = new Set<string>(
    [all.metadata.component, ...components].map((one: Component) => one['bom-ref']),
  )
  const dependencies = all.dependencies
    .filter(({ ref }: { ref: string }) => refs.has(ref))
    .map(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => ({
      ref,
      dependsOn: dependsOn.filter((one) => refs.has(one)),
    }))
  return `${JSON.stringify({ ...all, components, dependencies }, null, 2)}\n`
}

/** The form that `sha256sum --check SHA256SUMS` reads. */
function checksums(): string {
  const lines = readdirSync(target)
    .sort()
    .map((name) => `${hash('sha256', readFileSync(join(target, name)))}  ${name}\n`)
  return lines.join('')
}
