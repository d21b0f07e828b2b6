import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Says why this process cannot mount a disk; false if it can. */
export function cannotMount(): string | false {
  if (process.getuid?.() !== 0) return 'only root can mount a disk'
  const folder = mkdtempSync(join(tmpdir(), 'rapport-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
  if (status === 0) execFileSync('umount', [folder])
  rmSync(folder, { recursive: true })
  return status !== 0 && 'this machine lets nobody mount a disk'
}

/** A disk of a few MB with a file that takes a part of it; both go with the test. Only root may mount one. */
export function mountSmallDisk(t: TestContext, { megabytes, filled }: { megabytes: number; filled: number }) {
  if (process.getuid?.() !== 0) throw new Error('This test mounts a small disk: run it as root.')
  const folder = mkdtempSync(join(tmpdir(), 'rapport-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  t.after(() => {
    // Lazily: a process with an open file does not block the unmount.
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  const filler = join(folder, 'filler')
  writeFileSync(filler, Buffer.alloc(filled * 2 ** 20))
  return {
    folder,
    /** Gives the disk to another user. */
    giveTo(uid: number, gid: number) {
      for (const path of [folder, filler]) chownSync(path, uid, gid)
    },
    /** Makes room. */
    free: () => rmSync(filler),
  }
}
