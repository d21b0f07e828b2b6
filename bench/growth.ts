import type { Databases } from './databases.ts'
import { inTurn, latency, median, type Request } from './load.ts'
import type { Extent } from './ratios.ts'
import { head, line, quotients, whole } from './record.ts'
import { create, get, oneOf, someId, update } from './requests.ts'
import { rare_names, words } from './seed.ts'
import { startRapport } from './servers.ts'

const few = 1000

type Case = {
  name: string
  most: number
  clients?: number
  /** The part of the time, because each create makes the small database larger. */
  part?: number
  next: (key: string, contacts: number) => Request
}
const search = (key: string, ...texts: string[]) => get(key)(`?search=${encodeURIComponent(texts.join(' '))}`)
const cases: Case[] = [
  { name: 'get', most: 1.3, next: (key, contacts) => get(key)(`/${someId(contacts)}`) },
  { name: 'list, first page + total', most: 2, next: (key) => get(key)('') },
  {
    name: 'list, page 10,000 of 40,000',
    most: 5,
    next: (key, contacts) => get(key)(`?page=${contacts / 100}`),
  },
  {
    name: 'list, page 20,000 of 40,000',
    most: 5,
    next: (key, contacts) => get(key)(`?page=${contacts / 50}`),
  },
  {
    name: 'list, page 10,000 of 10,000',
    most: 5,
    next: (key, contacts) => get(key)(`?per_page=100&page=${contacts / 100}`),
  },
  {
    name: 'search, a word of 10',
    most: 3,
    next: (key) => search(key, oneOf(rare_names)),
  },
  {
    name: 'search, a word of 1 in 4,000',
    most: 3,
    next: (key) => search(key, oneOf(words)),
  },
  {
    name: 'search, two words of 1 in 4,000',
    most: 3,
    next: (key) => search(key, oneOf(words), oneOf(words)),
  },
  {
    name: 'search, a word of a quarter',
    most: 10,
    next: (key) => search(key, oneOf(['gor', 'cor'])),
  },
  { name: 'search, a word of all', most: 10, next: (key) => search(key, '@example.com') },
  { name: 'update', most: 1.5, next: (key, contacts) => update(key, someId(contacts)) },
  {
    name: 'update, 32 clients',
    most: 1.5,
    clients: 32,
    next: (key, contacts) => update(key, someId(contacts)),
  },
  { name: 'create', most: 1.5, part: 0.1, next: (key) => create(key) },
  { name: 'create, 32 clients', most: 1.5, clients: 32, part: 0.1, next: (key) => create(key) },
]

/**
 * Sends the same requests with few and with many contacts, in turn, and returns the table of factors. A page number is the
 * same fraction of the list in both.
 */
export async function measureGrowth(
  databases: Databases,
  { contacts: many, rounds, seconds, only }: Extent,
): Promise<string[]> {
  const start = async (name: string, contacts: number) => {
    console.log(`Filling a database with ${whole(contacts)} contacts …`)
    const filled = await databases.fill(name, contacts)
    return { contacts, key: filled.key, server: await startRapport(filled) }
  }
  const sides = { few: await start('few', few), many: await start('many', many) }
  const named = (n: number) => `${whole(n)}, ms`
  const lines = head('request', named(few), named(many), 'factor (median)')
  for (const { name, most, clients = 1, part = 1, next } of cases) {
    if (!only.test(name)) continue
    const took = await inTurn(['few', 'many'], rounds, (side, is_warm_up) => {
      const { contacts, key, server } = sides[side]
      const extent = { clients, seconds: (is_warm_up ? seconds / 2 : seconds) * part }
      return latency(server.port, extent, () => next(key, contacts))
    })
    const cells = [name, median(took.few).toFixed(2), median(took.many).toFixed(2)]
    lines.push(line(cells, quotients(took.many, took.few), { most }))
  }
  for (const { server } of Object.values(sides)) await server.stop()
  return lines
}
