import { type Stats, statSync } from 'node:fs'

// The files that a command gets by their paths.

/** Returns the file at a path, or null if there is none. Throws for a folder. */
export function findGivenFile(path: string): Stats | null {
  const found = statSync(path, { throwIfNoEntry: false }) ?? null
  if (found?.isDirectory()) throw new Error(`${path} is a folder. Give the path of a file.`)
  return found
}

/** Returns the file at a path. Throws if there is none, and for a folder. */
export function requireGivenFile(path: string): Stats {
  const found = findGivenFile(path)
  if (!found) throw new Error(`The file ${path} does not exist. Check the path.`)
  return found
}
