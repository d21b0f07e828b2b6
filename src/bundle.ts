import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

// Everything that the build reads but the packages, whose versions the lock file has.
const inputs = [
  'package.json',
  'package-lock.json',
  '{src,demo,release}/**/*.{ts,css,js,ndjson}',
  'web/{index.html,vite.config.ts,package.json}',
  'web/src/**/*.*',
]

/**
 * A hash over the names and bytes of what the build reads. Times of files would be cheaper, and wrong after a copy, an
 * unpacked archive or a checkout of an older commit.
 */
export function sourcesDigest(): string {
  const sum = createHash('sha256')
  for (const name of globSync(inputs, { cwd: root }).sort()) {
    if (/\.test\.tsx?$|\.d\.ts$/.test(name)) continue
    sum
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update('\0')
  }
  return sum.digest('hex')
}

/** Whether `dist/` has been built: from the sources as they are, or from others. */
export function bundleState(): 'none' | 'stale' | 'current' {
  const file = join(root, 'dist/build.json')
  if (!existsSync(file)) return 'none'
  return JSON.parse(readFileSync(file, 'utf8')).sources === sourcesDigest() ? 'current' : 'stale'
}
