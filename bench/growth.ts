import type { Databases } from './databases.ts'
import { latency, median, type Request } from './load.ts'
import type { Extent } from './ratios.ts'
import { head } from './record.ts'
import { get, oneOf, someId } from './requests.ts'
import { rare_names } from './seed.ts'
import { startRapport } from './servers.ts'

const few = 1000

type Case = { name: string; limit: number; next: (key: string, contacts: number) => Request }
const cases: Case[] = [
  { name: 'get', limit: 1.3, next: (key, contacts) => get(key)(`/${someId(contacts)}`) },
  { name: 'list, first page + total', limit: 2, next: (key) => get(key)('') },
  {
    name: 'list, a quarter in (page 10,000 of 40,000)',
    limit: 5,
    next: (key, contacts) => get(key)(`?page=${contacts / 100}`),
  },
  {
    name: 'list, in the middle (page 20,000 of 40,000)',
    limit: 5,
    next: (key, contacts) => get(key)(`?page=${contacts / 50}`),
  },
  {
    name: 'list, the end (page 10,000 of 10,000, of 100 rows)',
    limit: 5,
    next: (key, contacts) => get(key)(`?per_page=100&page=${contacts / 100}`),
  },
  {
    name: 'search, a name that 10 contacts have',
    limit: 3,
    next: (key) => get(key)(`?search=${oneOf(rare_names)}`),
  },
]

/**
 * Sends the same requests with few and with many contacts, in turn. Returns the lines of the table of factors. A page
 * number is the same fraction of the list in both.
 */
export async function measureGrowth(
  databases: Databases,
  { contacts: many, rounds, seconds, only }: Extent,
): Promise<string[]> {
  const servers = []
  for (const [name, contacts] of [
    ['few', few],
    ['many', many],
  ] as const) {
    console.log(`Filling a database with ${contacts.toLocaleString('en')} contacts …`)
    const { env, target, key } = await databases.fill(name, contacts)
    servers.push({ name, contacts, key, port: await startRapport({ env, target, key }) })
  }
  const named = (n: number) => `${n.toLocaleString('en')} contacts`
  const lines = head(named(few), named(many), 'factor')
  for (const { name, limit, next } of cases) {
    if (!only.test(name)) continue
    const took = { few: [] as number[], many: [] as number[] }
    for (let round = -1; round < rounds; round++)
      for (const { name, contacts, key, port } of servers) {
        const ms = await latency(port, round < 0 ? seconds / 2 : seconds, () => next(key, contacts))
        // The first round is a warm-up.
        if (round >= 0) took[name].push(ms)
      }
    const factors = took.many.map((ms, round) => ms / (took.few[round] as number))
    const row = [
      name,
      `${median(took.few).toFixed(2)} ms`,
      `${median(took.many).toFixed(2)} ms`,
      median(factors).toFixed(2),
      `${Math.min(...factors).toFixed(2)} – ${Math.max(...factors).toFixed(2)}`,
      `≤ ${limit} ${median(factors) <= limit ? 'ok' : 'not ok'}`,
    ]
    lines.push(`| ${row.join(' | ')} |`)
    console.log(row.join('   '))
  }
  return lines
}
