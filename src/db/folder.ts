import { accessSync, constants, lchownSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

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

/** The file of the key that the first start makes. */
export const firstKeyFile = (data_dir: string) => join(data_dir, 'first-api-key.txt')

// EISDIR is Windows' on exFAT.
const no_links = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR']

/** Whether a file system refused a hard link because it does not support them. */
export const hasNoLinks = (error: unknown): boolean =>
  no_links.includes((error as { code?: string }).code ?? '')

/** Why this user cannot write to a file or folder, and what to do; null if they can, or if it does not exist. */
export function writeProblem(path: string): { message: string; mend: string } | null {
  const { R_OK, W_OK, X_OK } = constants
  try {
    accessSync(path, isFolder(path) ? R_OK | W_OK | X_OK : R_OK | W_OK)
    return null
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return null
    if (code === 'EROFS')
      return {
        message: `The file system of ${path} is read-only.`,
        mend: 'Mount it for reading and writing, or choose another folder.',
      }
    return { message: `This user cannot write to ${path} (${code}).`, mend: write_mend }
  }
}

/** The advice for a file that this user cannot open. */
export const write_mend = 'Run this as the user of the service, or change the owner.'

// Root of a container, or of a network file system, may lack this right. The service may still be able to open the file.
const not_permitted = ['EPERM', 'EINVAL', 'ENOSYS']

/**
 * Gives a file that root made to the owner of its folder. Otherwise, the service could not open it. A link is left as it
 * is: the owner of the folder may have made it, to a file of root. An open descriptor would be safer, but its close drops
 * the locks of SQLite.
 */
export function giveToOwner(file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  const made = lstatSync(file)
  if (uid === 0 || made.uid !== 0 || !made.isFile() || made.nlink !== 1) return
  try {
    lchownSync(file, uid, gid)
  } catch (error) {
    if (!not_permitted.includes((error as { code?: string }).code ?? '')) throw error
  }
}
