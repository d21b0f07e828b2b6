import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Version 2 of cgroups has one tree; in version 1 memory has its own.
const kinds = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', most: 'memory.max_usage_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max', most: 'memory.peak' },
]

/**
 * A group of processes that the kernel ends when they use more memory, as a container does. Without permission to
 * create groups, Node's limit of the heap replaces it, with the size that Node chooses in such a container.
 */
export function smallMemory(megabytes: number) {
  const name = `rapport-test-${process.pid}-${megabytes}-${Date.now()}`
  for (const { root, limit, most } of kinds) {
    const folder = join(root, name)
    try {
      mkdirSync(folder)
      if (!existsSync(join(folder, limit))) throw new Error('no memory controller')
      writeFileSync(join(folder, limit), String(megabytes * 1024 * 1024))
    } catch {
      if (existsSync(folder)) rmdirSync(folder)
      continue
    }
    return {
      within: ['/bin/sh', '-c', `echo $$ > ${join(folder, 'cgroup.procs')} && exec "$@"`, 'sh'],
      env: {},
      by: 'cgroup',
      most_megabytes: () => Math.round(Number(readFileSync(join(folder, most), 'utf8')) / 1024 / 1024),
      remove: () => rmdirSync(folder),
    }
  }
  return {
    within: [],
    env: { NODE_OPTIONS: `--max-old-space-size=${megabytes / 2}` },
    by: 'heap',
    most_megabytes: () => null,
    remove() {},
  }
}
