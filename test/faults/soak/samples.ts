import { readdirSync, readFileSync } from 'node:fs'
import type { readStored } from '../../database.ts'
import { engine } from '../../engine.ts'
import { until } from '../../webhooks.ts'

export type Sample = {
  at_ms: number
  rss_mb: number
  heap_mb: number
  handles: number
  requests: number
  rows: Record<string, number>
}

type Stored = Awaited<ReturnType<typeof readStored>>

const megabyte = 2 ** 20

/** The memory and handles of a process, after a collection of garbage, and how many rows each table has. */
export async function takeSample(
  pid: number,
  probe: string,
  stored: Stored,
  requests: number,
): Promise<Sample> {
  const read = () => JSON.parse(readFileSync(probe, 'utf8'))
  const before = read().reading
  process.kill(pid, 'SIGUSR2')
  const { heap } = await until(
    async () => read(),
    ({ reading }) => reading > before,
  )
  return {
    at_ms: performance.now(),
    rss_mb: anonymous(pid),
    heap_mb: heap / megabyte,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    requests,
    rows: await countRows(stored),
  }
}

// Leave out the pages of the database file that SQLite maps: they grow with the file, and the system can reclaim them.
const anonymous = (pid: number) =>
  Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

async function countRows(stored: Stored): Promise<Record<string, number>> {
  const tables =
    engine === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_%'"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
  const names = (await stored.rows(tables)).map(({ name }) => String(name))
  const counts = names.map((name) => `SELECT '${name}' AS name, count(*) AS n FROM ${name}`)
  // One look, so that the counts are of one moment.
  const found = await stored.rows(counts.join(' UNION ALL '))
  return Object.fromEntries(found.map(({ name, n }) => [String(name), Number(n)]))
}

/** How much a value grows over the whole of some samples, by the line that fits them best. */
export function growth(samples: Sample[], value: (sample: Sample) => number): number {
  const n = samples.length
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / n
  const at = mean(({ at_ms }) => at_ms)
  const level = mean(value)
  let above = 0
  let below = 0
  for (const one of samples) {
    above += (one.at_ms - at) * (value(one) - level)
    below += (one.at_ms - at) ** 2
  }
  const slope = below ? above / below : 0
  return slope * (samples.at(-1)!.at_ms - samples[0]!.at_ms)
}
