import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, 'web')
/** Where the built web app is. */
export const web_folder = join(source, 'dist')
const stamp = (folder: string) => join(folder, '.built-from')

// What the built files depend on. Types and tests change nothing of them.
const inputs = [
  'web/index.html',
  'web/vite.config.ts',
  'web/package.json',
  'web/src/**/*',
  'package-lock.json',
]

/** A hash over the names and bytes of everything that the web app is built from. */
function digest(): string {
  const sum = createHash('sha256')
  for (const name of globSync(inputs, { cwd: root }).sort()) {
    if (!/\.\w+$/.test(name) || /\.d\.ts$|\.test\.tsx?$/.test(name)) continue
    sum.update(`${name}\0`).update(readFileSync(join(root, name)))
  }
  return sum.digest('hex')
}

/**
 * Builds the web app unless it is built from these very sources. An installation without sources, such as an image, has a
 * built one. Several at once build beside each other, and the last one's files, which are the same, stay.
 */
export async function buildWebApp(tell: (line: string) => void): Promise<void> {
  if (!existsSync(join(source, 'index.html'))) return
  const wanted = digest()
  if (existsSync(stamp(web_folder)) && readFileSync(stamp(web_folder), 'utf8') === wanted) return
  const program = join(root, 'node_modules/vite/bin/vite.js')
  if (!existsSync(program)) {
    if (existsSync(web_folder)) return
    throw new Error('The web app is not built, and what builds it is not installed: run npm ci.')
  }
  tell('Building the web app, once for this version')
  const fresh = join(source, `dist-${process.pid}`)
  const build = spawn(
    process.execPath,
    [program, 'build', '--outDir', fresh, '--emptyOutDir', '--logLevel', 'error'],
    {
      cwd: source,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let said = ''
  for (const stream of [build.stdout, build.stderr]) stream.on('data', (text) => (said += text))
  const [code] = await once(build, 'close')
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true })
    throw new Error(`Building the web app failed: ${said.trim()}`)
  }
  mkdirSync(fresh, { recursive: true })
  writeFileSync(stamp(fresh), wanted)
  rmSync(web_folder, { recursive: true, force: true })
  renameSync(fresh, web_folder)
}
