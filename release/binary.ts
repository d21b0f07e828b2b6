import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
// @ts-expect-error: it has no types.
import { inject } from 'postject'
import { build } from './build.ts'
import { bundle } from './bundle.ts'
import { here, isPlatform, lockedNode, nodeFor, type Platform, platforms } from './node.ts'
import { root } from './root.ts'

// Makes the single executable: node release/binary.ts [--platform linux-x64]

// Node looks for these: https://nodejs.org/api/single-executable-applications.html
const resource = 'NODE_SEA_BLOB'
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Makes `rapport` for a platform in a folder, from what `build` has made in `dist`, and returns its path. */
export async function buildBinary(platform: Platform, dist: string, target: string): Promise<string> {
  const { version } = lockedNode(platform)
  const windows = platform.startsWith('win32')
  const work = `${target}-${process.pid}`
  mkdirSync(work, { recursive: true })
  try {
    await bundle(
      { main: 'release/program/binary.ts' },
      { file: join(work, 'main.cjs'), format: 'cjs', codeSplitting: false },
    )
    // The layout of a blob belongs to a version of Node, so the same version makes it, on this platform.
    const maker = nodeFor(here as Platform, version)
    // Compiled code fits one platform only.
    const blob = makeBlob(maker, work, { useCodeCache: platform === here, assets: assetsOf(dist) })
    const program = join(work, windows ? 'rapport.exe' : 'rapport')
    copyFileSync(nodeFor(platform, version), program)
    chmodSync(program, 0o755)
    strip(platform, program)
    await inject(program, resource, readFileSync(blob), {
      sentinelFuse: fuse,
      ...(platform.startsWith('darwin') && { machoSegmentName: 'NODE_SEA' }),
    })
    if (platform.startsWith('darwin')) sign(program)
    mkdirSync(target, { recursive: true })
    cpSync(program, join(target, basename(program)))
    return join(target, basename(program))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

type BlobOptions = { useCodeCache: boolean; assets?: Record<string, string> }

/** Makes the blob of main.cjs in a folder, by a Node, and returns its path. The same content gives the same blob anywhere. */
export function makeBlob(maker: string, folder: string, options: BlobOptions): string {
  // Relative: the blob keeps the path of its code, which stack traces show.
  const config = { main: 'main.cjs', output: 'blob', disableExperimentalSEAWarning: true, ...options }
  writeFileSync(join(folder, 'sea.json'), JSON.stringify(config))
  // The seed makes the same compiled code each time.
  execFileSync(maker, ['--random-seed=1', '--experimental-sea-config', 'sea.json'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return join(folder, 'blob')
}

/** The files of dist/ that the executable contains, in compressed form if there is one. */
function assetsOf(dist: string): Record<string, string> {
  const names = globSync(['web/**/*.*', 'docs/*', 'threads/*'], { cwd: dist }).map((name) =>
    name.replaceAll('\\', '/'),
  )
  const kept = names.filter((name) => !name.endsWith('.gz') && !names.includes(`${name}.br`))
  return Object.fromEntries(kept.map((name) => [name, join(dist, name)]))
}

/** Removes the symbols, a seventh of the file. Without a tool for the platform, the file is larger. */
function strip(platform: Platform, program: string) {
  if (!platform.startsWith('linux')) return
  try {
    execFileSync('strip', [program], { stdio: 'ignore' })
  } catch {
    console.error(`strip cannot read a program for ${platform}, so it keeps its symbols.`)
  }
}

/** macOS starts signed programs only. Any identity will do on the own machine. */
function sign(program: string) {
  if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', program])
  else console.error('This program is not signed. On a Mac: codesign --force --sign - rapport')
}

async function main() {
  const { values } = parseArgs({ options: { platform: { type: 'string', default: here } } })
  const { platform } = values
  if (!isPlatform(platform)) throw new Error(`--platform is one of ${Object.keys(platforms).join(', ')}.`)
  const dist = join(root, 'dist')
  await build(dist)
  const file = await buildBinary(platform, dist, join(root, 'artefacts', platform))
  console.log(`${file}: ${Math.round(statSync(file).size / 1e6)} MB`)
}

// Without await at the top: the tests load this file synchronously.
if (import.meta.main) void main()
