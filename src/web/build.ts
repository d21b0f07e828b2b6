import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, 'web')
const dist = join(source, 'dist')

// What the built files depend on. Types and tests change nothing of them.
const inputs = [
  'web/index.html',
  'web/vite.config.ts',
  'web/package.json',
  'web/src/**/*',
  'package-lock.json',
]
// A process that was started before the last ones goes on with its own.
const kept = 3
const abandoned_ms = 3600_000

const isBuilt = (folder: string): boolean => existsSync(join(folder, 'index.html'))

/** A hash over the names and bytes of everything that the web app is built from. */
function digest(): string {
  const sum = createHash('sha256')
  for (const name of globSync(inputs, { cwd: root }).sort()) {
    if (!/\.\w+$/.test(name) || /\.d\.ts$|\.test\.tsx?$/.test(name)) continue
    sum.update(`${name}\0`).update(readFileSync(join(root, name)))
  }
  return sum.digest('hex').slice(0, 16)
}

/** The folders of built web apps, the newest first. */
const builtFolders = (): string[] =>
  globSync('*', { cwd: dist })
    .filter((name) => !name.startsWith('building-'))
    .map((name) => join(dist, name))
    .filter(isBuilt)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)

/**
 * The folder of the web app that is built from these very sources; it is built when there is none. Every version has a
 * folder of its own, so that a start takes nothing away from a process that runs. An installation without sources, such as
 * an image, has a built one. Where building fails, the newest one that there is, or null: the API needs none.
 */
export async function buildWebApp(tell: (line: string) => void): Promise<string | null> {
  if (existsSync(join(source, 'index.html'))) {
    const folder = join(dist, digest())
    try {
      if (!isBuilt(folder)) await build(folder, tell)
      return folder
    } catch (error) {
      tell(`The web app could not be built: ${(error as Error).message}`)
    }
  }
  return builtFolders()[0] ?? null
}

async function build(folder: string, tell: (line: string) => void): Promise<void> {
  const program = join(root, 'node_modules/vite/bin/vite.js')
  if (!existsSync(program)) throw new Error('the build tool is not installed. Run npm ci without --omit=dev.')
  tell('Building the web app, once for this version')
  const fresh = join(dist, `building-${process.pid}`)
  const words = [program, 'build', '--outDir', fresh, '--emptyOutDir', '--logLevel', 'error']
  const child = spawn(process.execPath, words, { cwd: source, stdio: ['ignore', 'pipe', 'pipe'] })
  const leave = () => {
    child.kill()
    rmSync(fresh, { recursive: true, force: true })
  }
  process.once('exit', leave)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  try {
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(said.trim())
    takeName(fresh, folder)
  } finally {
    process.off('exit', leave)
    rmSync(fresh, { recursive: true, force: true })
  }
  sweep()
}

function takeName(fresh: string, folder: string) {
  try {
    renameSync(fresh, folder)
  } catch (error) {
    // Another start was quicker, with the same files.
    if (!isBuilt(folder)) throw error
  }
}

/** Takes away old versions, and what starts that were ended have left. */
function sweep() {
  const left = globSync('building-*', { cwd: dist })
    .map((name) => join(dist, name))
    .filter((folder) => performance.timeOrigin - statSync(folder).mtimeMs > abandoned_ms)
  for (const folder of [...builtFolders().slice(kept), ...left])
    rmSync(folder, { recursive: true, force: true })
}
