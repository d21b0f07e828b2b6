import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, 'web')
const dist = join(source, 'dist')

// The built files depend on these. Types and tests do not change them, and the build generates the rest.
const inputs = [
  'web/{index,open}.html',
  'web/vite.config.ts',
  'web/package.json',
  'web/src/**/*',
  'scripts/{compile-messages,generate-texts}.ts',
  'package-lock.json',
]
// Running processes of older versions need their own files.
const max_versions = 3
const abandoned_ms = 3600_000

const isBuilt = (folder: string): boolean => existsSync(join(folder, 'index.html'))

/** A hash over the names and bytes of the sources of the web app. */
function digest(): string {
  const sum = createHash('sha256')
  for (const name of globSync(inputs, { cwd: root }).sort()) {
    if (!/\.\w+$/.test(name) || /\.d\.ts$|\.test\.tsx?$|[\\/]generated[\\/]/.test(name)) continue
    sum.update(`${name}\0`).update(readFileSync(join(root, name)))
  }
  return sum.digest('hex').slice(0, 16)
}

/** The folders of built web apps, newest first. */
const builtFolders = (): string[] =>
  globSync('*', { cwd: dist })
    .filter((name) => !name.startsWith('building-'))
    .map((name) => join(dist, name))
    .filter(isBuilt)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)

/**
 * Builds the web app from its sources, unless it is built, and returns its folder. Each version has its own folder,
 * because running processes serve older ones. Throws if the build fails: a release must not contain an older version.
 */
export async function buildThisWebApp(log: (line: string) => void): Promise<string> {
  const folder = join(dist, digest())
  if (!isBuilt(folder)) await build(folder, log)
  return folder
}

/**
 * Like buildThisWebApp. Without sources, or if the build fails, returns the newest built version, or null. The API works
 * without it.
 */
export async function buildWebApp(log: (line: string) => void): Promise<string | null> {
  if (existsSync(join(source, 'index.html'))) {
    try {
      return await buildThisWebApp(log)
    } catch (error) {
      log(`The web app could not be built: ${(error as Error).message}`)
    }
  }
  return builtFolders()[0] ?? null
}

async function build(folder: string, log: (line: string) => void): Promise<void> {
  const program = join(root, 'node_modules/vite/bin/vite.js')
  if (!existsSync(program)) throw new Error('the build tool is not installed. Run npm ci without --omit=dev.')
  log('Building the web app, once for this version')
  const fresh = join(dist, `building-${process.pid}`)
  const words = [program, 'build', '--outDir', fresh, '--emptyOutDir', '--logLevel', 'error']
  const child = spawn(process.execPath, words, { cwd: source, stdio: ['ignore', 'pipe', 'pipe'] })
  const abandon = () => {
    child.kill()
    rmSync(fresh, { recursive: true, force: true })
  }
  process.once('exit', abandon)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  try {
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(output.trim())
    publish(fresh, folder)
  } finally {
    process.off('exit', abandon)
    rmSync(fresh, { recursive: true, force: true })
  }
  removeOldVersions()
}

function publish(fresh: string, folder: string) {
  try {
    renameSync(fresh, folder)
  } catch (error) {
    // A concurrent start has published the same files.
    if (!isBuilt(folder)) throw error
  }
}

/** Removes old versions, and the folders of interrupted builds. */
function removeOldVersions() {
  const left = globSync('building-*', { cwd: dist })
    .map((name) => join(dist, name))
    .filter((folder) => performance.timeOrigin - statSync(folder).mtimeMs > abandoned_ms)
  for (const folder of [...builtFolders().slice(max_versions), ...left])
    rmSync(folder, { recursive: true, force: true })
}
