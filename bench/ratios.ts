import type { Databases, Engine } from './databases.ts'
import { load, median, type Request } from './load.ts'
import { head } from './record.ts'
import { create, get, oneOf, someId } from './requests.ts'
import { startBare, startRapport } from './servers.ts'

export type Extent = { contacts: number; rounds: number; seconds: number; only: RegExp }

// Names of three syllables, which about 25 of 100,000 contacts have.
const words = ['gorhuis', 'kalimo', 'sotivu', 'bediel', 'neolpe', 'corfa', 'hujoti', 'vuanbe']
// The bare server takes every text for one word, and finds no words of one or two letters.
const searches = {
  'one letter': ['a', 'e', 'z'],
  'two letters': ['an', 'so', 'qx'],
  'a long e-mail': ['gorhuisan@example.com', 'sotivucor@example', 'diisvudi@example.com'],
  'a domain that all have': ['@example.com'],
}

type Case = { name: string; clients: number; expected: Record<Engine, number | null>; next: () => Request }
const casesOf = (key: string, contacts: number): Case[] => {
  const read = get(key)
  return [
    {
      name: 'get',
      clients: 32,
      expected: { sqlite: 0.6, postgres: 0.6 },
      next: () => read(`/${someId(contacts)}`),
    },
    {
      name: 'list (25 rows + total)',
      clients: 32,
      expected: { sqlite: 0.6, postgres: 0.6 },
      next: () => read(''),
    },
    {
      name: 'search',
      clients: 32,
      expected: { sqlite: 1.5, postgres: null },
      next: () => read(`?search=${oneOf(words)}`),
    },
    ...Object.entries(searches).map(([name, list]) => ({
      name: `search, ${name}`,
      clients: 4,
      expected: { sqlite: null, postgres: null },
      next: () => read(`?search=${encodeURIComponent(oneOf(list))}`),
    })),
    {
      name: 'create, 1 client',
      clients: 1,
      expected: { sqlite: 0.6, postgres: 0.5 },
      next: () => create(key),
    },
    {
      name: 'create, 32 clients',
      clients: 32,
      expected: { sqlite: 0.6, postgres: 0.5 },
      next: () => create(key),
    },
  ]
}

/**
 * Measures Rapport and the bare server on the same data, and returns the lines of the table of ratios. The two take turns,
 * so that a slow period of the machine slows both.
 */
export async function measureRatios(
  databases: Databases,
  engine: Engine,
  { contacts, rounds, seconds, only }: Extent,
): Promise<string[]> {
  console.log(`Filling a database with ${contacts.toLocaleString('en')} contacts …`)
  const mine = await databases.fill('rapport', contacts)
  const bare = await databases.copy(mine, 'bare')
  const ports = { bare: await startBare(engine, bare), rapport: await startRapport(mine) }
  const lines = head('bare, per second', 'Rapport, per second', 'ratio')
  for (const { name, clients, expected, next } of casesOf(mine.key, contacts)) {
    if (!only.test(name)) continue
    const rates = { bare: [] as number[], rapport: [] as number[] }
    for (const server of ['bare', 'rapport'] as const) await load(ports[server], clients, seconds / 2, next)
    for (let round = 0; round < rounds; round++)
      for (const server of ['bare', 'rapport'] as const)
        rates[server].push(await load(ports[server], clients, seconds, next))
    const ratios = rates.rapport.map((rate, round) => rate / (rates.bare[round] as number))
    const row = [
      name,
      Math.round(median(rates.bare)).toLocaleString('en'),
      Math.round(median(rates.rapport)).toLocaleString('en'),
      median(ratios).toFixed(2),
      `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`,
      expected[engine] === null ? '–' : `≥ ${expected[engine]}`,
    ]
    lines.push(`| ${row.join(' | ')} |`)
    console.log(row.join('   '))
  }
  return lines
}
