import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// JavaScript: Node loads its TypeScript compiler, 30 MB of memory, for the first file that needs it.

// Everything that the build reads but the packages, whose versions the lock file has.
export const inputs = [
  'package.json',
  'package-lock.json',
  '{src,demo,release}/**/*.{ts,css,js,json,ndjson}',
  'web/{index.html,vite.config.ts,package.json}',
  'web/src/**/*.*',
  'scripts/{compile-messages,generate-texts}.ts',
]

/**
 * A hash over the names and bytes of what the build reads. Times of files would be cheaper, and wrong after a copy, an
 * unpacked archive or a checkout of an older commit.
 *
 * @param {string} root the folder of the checkout
 * @returns {string}
 */
export function sourcesDigest(root) {
  const sum = createHash('sha256')
  for (const name of globSync(inputs, { cwd: root }).sort()) {
    if (/\.test\.tsx?$|\.d\.ts$|[\\/]generated[\\/]/.test(name)) continue
    sum
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update('\0')
  }
  return sum.digest('hex')
}

/**
 * Whether `dist/` has been built: from the sources as they are, or from others.
 *
 * @param {string} root the folder of the checkout
 * @returns {'none' | 'stale' | 'current'}
 */
export function bundleState(root) {
  const file = join(root, 'dist/build.json')
  if (!existsSync(file)) return 'none'
  return JSON.parse(readFileSync(file, 'utf8')).sources === sourcesDigest(root) ? 'current' : 'stale'
}
