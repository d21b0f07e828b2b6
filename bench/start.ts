import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Databases, Engine } from './databases.ts'
import { inTurn, load, median } from './load.ts'
import { head, line, whole } from './record.ts'
import { create, get, someId } from './requests.ts'
import { type Server, startBare, startRapport } from './servers.ts'

// Whole processes: the time from a start to the first answer, and resident memory. It reads /proc, so it needs Linux.

const clients = 32
// A start leaves garbage. Rapport frees it after 1 s.
const idle_ms = 3000

/** Returns the table of start times and memory. */
export async function measureStart(
  databases: Databases,
  engine: Engine,
  { rounds, requests }: { rounds: number; requests: number },
): Promise<string[]> {
  const contacts = 1000
  const mine = await databases.fill('start', contacts)
  const bare = await databases.copy(mine, 'start_bare')
  const list = get(mine.key)('')
  const start = { bare: () => startBare(engine, bare), rapport: () => startRapport(mine) }
  const idle = { bare: [] as number[], rapport: [] as number[] }
  const took = await inTurn(['bare', 'rapport'], rounds, async (side, is_warm_up) => {
    const before = performance.now()
    const server = await start[side]()
    await load(server.port, { clients: 1, requests: 1 }, () => list)
    const seconds = (performance.now() - before) / 1000
    await pause(idle_ms)
    if (!is_warm_up) idle[side].push(memory(server, 'VmRSS'))
    await server.stop()
    return seconds
  })
  const lines = head('process', 'bare', 'Rapport (median)')
  const seconds = (n: number) => `${n.toFixed(2)} s`
  const mib = (n: number) => `${Math.round(n)} MiB`
  lines.push(
    line(['start to first answer', seconds(median(took.bare))], took.rapport, { most: 0.5 }, seconds),
    line(['memory, idle', mib(median(idle.bare))], idle.rapport, { most: 110 }, mib),
  )
  const server = await startRapport(mine)
  const work = [
    ['memory after %d creates', null, () => create(mine.key)],
    ['memory after %d gets more', { most: 250 }, () => get(mine.key)(`/${someId(contacts + requests)}`)],
  ] as const
  for (const [name, wanted, next] of work) {
    await load(server.port, { clients, requests }, next)
    const name_and_part = `${name.replace('%d', whole(requests))} (anonymous: ${mib(memory(server, 'RssAnon'))})`
    lines.push(line([name_and_part, '–'], [memory(server, 'VmRSS')], wanted, mib))
  }
  await server.stop()
  return lines
}

/** In MiB. RssAnon does not contain pages of files, such as the database's. */
export function memory({ pid }: Server, field: 'VmRSS' | 'RssAnon'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024
}
