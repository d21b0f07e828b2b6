import { accessSync, chownSync, constants, mkdirSync, statSync } from 'node:fs'
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

/** The sentence that this user cannot write to a file or folder; null if they can, or if it does not exist. */
export function writeProblem(path: string): string | null {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return null
  } catch (error) {
    const { code } = error as { code?: string }
    return code === 'ENOENT' ? null : `This user cannot write to ${path} (${code}).`
  }
}

export const write_mend = 'Run this as the user of the service, or change the owner.'

/** Gives a file that root made to the owner of its folder. Otherwise, the service could not open it. */
export function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  if (uid !== 0) chownSync(file, uid, gid)
}
