import type { Databases, Engine } from './databases.ts'
import { inTurn, load, median, type Request } from './load.ts'
import { head, line, quotients, whole } from './record.ts'
import { create, get, oneOf, someId, update } from './requests.ts'
import { companies, words } from './seed.ts'
import { startBare, startRapport } from './servers.ts'

export type Extent = { contacts: number; rounds: number; seconds: number; only: RegExp }

const clients = 32

type Case = { name: string; wanted: Record<Engine, number | null>; next: () => Request }
const casesOf = (key: string, contacts: number): Case[] => {
  const read = get(key)
  return [
    { name: 'get', wanted: { sqlite: 0.6, postgres: 0.9 }, next: () => read(`/${someId(contacts)}`) },
    { name: 'list (25 rows + total)', wanted: { sqlite: 1, postgres: 1.6 }, next: () => read('') },
    {
      name: 'deep page (a quarter in)',
      wanted: { sqlite: 1.8, postgres: 2.5 },
      next: () => read(`?page=${Math.ceil(contacts / 100)}`),
    },
    // On SQLite, the bare server counts the 667 contacts of a company in 21 µs.
    {
      name: 'filter (one company)',
      wanted: { sqlite: null, postgres: 1.2 },
      next: () => read(`?company_id=${(someId(contacts) % companies) + 1}`),
    },
    {
      name: 'search',
      wanted: { sqlite: 1.6, postgres: 0.9 },
      next: () => read(`?search=${oneOf(words)}`),
    },
    {
      name: 'update',
      wanted: { sqlite: 0.6, postgres: 0.55 },
      next: () => update(key, someId(contacts)),
    },
    // The last one, because it makes the lists longer.
    { name: 'create', wanted: { sqlite: 0.42, postgres: 0.65 }, next: () => create(key) },
  ]
}

/** Compares Rapport with the bare server on the same data, and returns the table of ratios. */
export async function measureRatios(
  databases: Databases,
  engine: Engine,
  { contacts, rounds, seconds, only }: Extent,
): Promise<string[]> {
  console.log(`Filling a database with ${whole(contacts)} contacts …`)
  const mine = await databases.fill('rapport', contacts)
  const bare = await databases.copy(mine, 'bare')
  const servers = { bare: await startBare(engine, bare), rapport: await startRapport(mine) }
  const lines = head('request', 'bare, per second', 'Rapport, per second', 'ratio (median)')
  for (const { name, wanted, next } of casesOf(mine.key, contacts)) {
    if (!only.test(name)) continue
    const sides = { bare: { ...servers.bare, next }, rapport: { ...servers.rapport, next } }
    const least = wanted[engine]
    if (next().method === 'GET') await requireSameBytes(name, sides)
    lines.push(await compareRates(name, sides, { rounds, seconds }, least === null ? null : { least }))
  }
  for (const server of Object.values(servers)) await server.stop()
  return lines
}

/** Throws unless both servers answer a request with the same body and the same headers, but for the request id. */
async function requireSameBytes(name: string, { bare, rapport }: Record<'bare' | 'rapport', Side>) {
  const { path, headers = {} } = rapport.next()
  const [one, other] = await Promise.all(
    [bare, rapport].map(async ({ port }) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      const { 'x-request-id': id, date, 'keep-alive': limit, ...more } = Object.fromEntries(answer.headers)
      return JSON.stringify([answer.status, Boolean(id), Object.entries(more).sort(), await answer.text()])
    }),
  )
  if (one !== other) throw new Error(`The servers answer ${name} differently:\n${one}\n${other}`)
}

type Side = { port: number; next: () => Request }

/** Sends requests to Rapport and to another server in turn, and returns a line of the table of ratios. */
export async function compareRates(
  name: string,
  sides: { bare: Side; rapport: Side },
  { rounds, seconds }: { rounds: number; seconds: number },
  wanted: { least: number } | null,
): Promise<string> {
  const rates = await inTurn(['bare', 'rapport'], rounds, (side, is_warm_up) => {
    const { port, next } = sides[side]
    return load(port, { clients, seconds: is_warm_up ? seconds / 2 : seconds }, next)
  })
  const cells = [name, whole(median(rates.bare)), whole(median(rates.rapport))]
  return line(cells, quotients(rates.rapport, rates.bare), wanted)
}
