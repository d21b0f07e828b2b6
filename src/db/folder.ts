import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/**
 * Creates a folder and the folders above it. A no-op if it exists. The recursive mkdir of Node never ends for a path below
 * /proc, where the system says for each folder that the one above is missing.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return
  const above = dirname(path)
  if (above !== path) makeFolder(above, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created it.
    if (isFolder(path)) return
    const { code } = error as { code?: string }
    throw new Error(`The folder ${path} cannot be created (${code}). Choose another one.`, { cause: error })
  }
}
