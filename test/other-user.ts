import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The user and the group of files that are not of root. */
export const nobody = { uid: 65_534, gid: 65_533 }

/** Says why this process cannot give files to another user; false if it can. */
export function cannotGive(): string | false {
  if (process.getuid?.() !== 0) return 'only root can give files to another user'
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  try {
    chownSync(folder, nobody.uid, nobody.gid)
    return false
  } catch (error) {
    return (error as Error).message
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Says why no process can run without the rights of root here; false if one can. */
export function cannotLeaveRoot(): string | false {
  if (process.platform === 'win32') return 'Windows has other rights'
  if (process.getuid?.() !== 0) return false
  return spawnSync(process.execPath, ['--version'], { uid: nobody.uid }).error?.message ?? false
}
