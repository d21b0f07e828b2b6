import { readdirSync, readFileSync } from 'node:fs'

// The CPU time of test files, as Linux counts it: other programs make a test longer, but use nothing of it.

/** CPU seconds of test processes, of their browsers, and of all other processes that they start. */
type Used = { tests: number; browser: number; processes: number }

const ticks_per_second = 100
// A process that has ended, and is not taken away yet, has no words.
const kinds = new Map<number, keyof Used>()

const read = (path: string) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function kindOf(pid: number): keyof Used {
  const words = read(`/proc/${pid}/cmdline`)
  if (words)
    kinds.set(pid, /chrom/.test(words) ? 'browser' : /worker\.ts/.test(words) ? 'tests' : 'processes')
  return kinds.get(pid) ?? 'processes'
}

/** The CPU time of a process and of those that it has started, so far. */
function usedBy(root: number): Used {
  const stats = new Map<number, { parent: number; own: number; ended: number }>()
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    const stat = read(`/proc/${pid}/stat`)
    const [, parent = 0, ...fields] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user = 0, system = 0, ended_user = 0, ended_system = 0] = fields.slice(9)
    stats.set(pid, { parent, own: user + system, ended: ended_user + ended_system })
  }
  const used: Used = { tests: 0, browser: 0, processes: 0 }
  const tree = [root]
  for (const pid of tree) {
    const { own = 0, ended = 0 } = stats.get(pid) ?? {}
    const kind = kindOf(pid)
    used[kind] += own / ticks_per_second
    used[kind === 'browser' ? kind : 'processes'] += ended / ticks_per_second
    for (const [child, { parent }] of stats) if (parent === pid) tree.push(child)
  }
  return used
}

let counting = false
export const startCounting = (): void => {
  counting = true
}

const sum = ({ tests, browser, processes }: Used) => tests + browser + processes
const files: { file: string; batch: string; used: Used }[] = []

/** Counts what a process uses for a file, if anybody wants to know. Call the result when the file is over. */
export function countFrom(pid: number): (file: string, batch?: string) => void {
  if (!counting) return () => {}
  const before = usedBy(pid)
  return (file, batch = '') => {
    const used = usedBy(pid)
    for (const kind of Object.keys(used) as (keyof Used)[]) used[kind] -= before[kind]
    files.push({ file, batch, used })
  }
}

/** The CPU seconds of the files by engine and folder. */
export function linesOfUse(): string[] {
  const groups = Object.groupBy(
    files,
    ({ file, batch }) => `${batch} ${file.split('/').slice(0, 2).join('/')}`,
  )
  const all = Object.entries(groups).map(([name, some = []]) => {
    const of = (kind: keyof Used) => some.reduce((total, { used }) => total + used[kind], 0)
    return {
      name,
      count: some.length,
      used: { tests: of('tests'), browser: of('browser'), processes: of('processes') },
    }
  })
  const lines = all
    .sort((a, b) => sum(b.used) - sum(a.used))
    .map(({ name, count, used }) => {
      const parts = Object.entries(used).map(([kind, seconds]) => `${seconds.toFixed(1)} ${kind}`)
      return `${sum(used).toFixed(1)} s ${name}, ${count} files: ${parts.join(', ')}`
    })
  const total = all.reduce((seconds, { used }) => seconds + sum(used), 0)
  return [
    ...lines,
    `${total.toFixed(1)} s in all files, without the builds and the PostgreSQL that they share`,
  ]
}
