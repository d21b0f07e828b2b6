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
import { billOfMaterials } from './bill.ts'
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
const time = sourceTime()
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

rmSync(target, { recursive: true, force: true })
mkdirSync(target)
await build(dist)
execFileSync('npm', ['pack', '--silent', dist, buildClient()], { cwd: target })
for (const platform of names as Platform[]) await packBinary(platform)
writeFileSync(join(target, `rapport-${version}.cdx.json`), billOfMaterials(time))
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
  if (platform.startsWith('linux'))
    for (const file of ['release/install.sh', 'ops/rapport.service'])
      cpSync(join(root, file), join(folder, basename(file)))
  pack(basename(folder), `${name}.tar.gz`)
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

/** The time of the commit, or SOURCE_DATE_EPOCH in seconds. So the same checkout gives the same files. */
function sourceTime(): Date {
  const git = ['log', '-1', '--format=%ct']
  const seconds = process.env.SOURCE_DATE_EPOCH ?? execFileSync('git', git, { cwd: root, encoding: 'utf8' })
  return new Date(Number(seconds) * 1000)
}

/** Packs a folder. The tar of a Mac cannot leave out owners and times. */
function pack(folder: string, archive: string) {
  const fixed = [
    '--sort=name',
    `--mtime=@${time.getTime() / 1000}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
  ]
  const words = process.platform === 'linux' ? fixed : []
  execFileSync('tar', [...words, '-czf', archive, folder], { cwd: target })
}

/** The form that `sha256sum --check SHA256SUMS` reads. */
function checksums(): string {
  const lines = readdirSync(target)
    .sort()
    .map((name) => `${hash('sha256', readFileSync(join(target, name)))}  ${name}\n`)
  return lines.join('')
}
