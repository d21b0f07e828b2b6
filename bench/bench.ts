import { parseArgs } from 'node:util'
import { type Databases, type Engine, engines, openDatabases } from './databases.ts'
import { measureDeliveries, measureOptions } from './deliveries.ts'
import { measureFiles } from './files.ts'
import { measureGrowth } from './growth.ts'
import { measureLatency } from './latency.ts'
import { measureDirectus, measureWorker } from './peers.ts'
import { measureRatios } from './ratios.ts'
import { record, whole } from './record.ts'
import { measureScreens } from './screens.ts'
import { runs, stopServers } from './servers.ts'
import { measureStart } from './start.ts'

// Prints and records measurements beside the wanted figures. It never fails because of a figure.

const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    requests: { type: 'boolean', default: false },
    deliveries: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    import: { type: 'boolean', default: false },
    rows: { type: 'string' },
    peers: { type: 'boolean', default: false },
    start: { type: 'boolean', default: false },
    screens: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    contacts: { type: 'string' },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
if (values.engine && !engines.includes(values.engine as Engine))
  throw new Error(`--engine is ${engines.join(' or ')}.`)
if (values.write && (values.quick || values.only)) throw new Error('--write needs all rounds and rows.')
// A quick run shows that everything works. Its figures mean nothing.
const { quick } = values
const rounds = Number(values.rounds ?? (quick ? 1 : 5))
const seconds = quick ? 0.2 : 2
const contacts = Number(values.contacts ?? (quick ? 2000 : 100_000))
const many = Number(values.contacts ?? (quick ? 10_000 : 1_000_000))
const rows = Number(values.rows ?? (quick ? 1000 : 100_000))
const deliveries = quick ? 1000 : 20_000
const requests = quick ? 1000 : 100_000
const only = new RegExp(values.only)

type Table = {
  section: string
  extent: string
  measure(databases: Databases, engine: Engine): Promise<string[]>
}
const parts: Record<
  'requests' | 'deliveries' | 'start' | 'screens' | 'growth' | 'import' | 'peers',
  Table[]
> = {
  requests: [
    {
      section: 'ratios',
      extent: `${whole(contacts)} contacts, ${rounds} rounds of ${seconds} s each`,
      measure: (databases, engine) => measureRatios(databases, engine, { contacts, rounds, seconds, only }),
    },
  ],
  deliveries: [
    {
      section: 'deliveries',
      extent: `${rounds} rounds of ${whole(deliveries)} deliveries each`,
      async measure(databases, engine) {
        const database_url = await databases.empty('deliveries')
        const wanted = { sqlite: 0.45, postgres: 0.4 }[engine]
        return measureDeliveries({ database_url, count: deliveries, rounds, wanted })
      },
    },
    {
      section: 'options',
      extent: `${rounds} rounds of ${whole(deliveries)} deliveries each`,
      measure: async (databases) => {
        const database_url = await databases.empty('options')
        return measureOptions({ database_url, count: deliveries, rounds })
      },
    },
    {
      section: 'latency',
      extent: `${rounds} rounds of ${seconds} s each`,
      measure: (databases, engine) => measureLatency(databases, engine, { rounds, seconds }),
    },
  ],
  start: [
    {
      section: 'start',
      extent: `${rounds} starts, then one process with 32 clients`,
      measure: (databases, engine) => measureStart(databases, engine, { rounds, requests }),
    },
  ],
  screens: [
    {
      section: 'screens',
      extent: `${whole(contacts)} contacts, ${rounds} rounds, Chromium`,
      measure: (databases) => measureScreens(databases, { contacts, rounds }),
    },
  ],
  growth: [
    {
      section: 'growth',
      extent: `${rounds} rounds of ${seconds / 2} s each`,
      measure: (databases) =>
        measureGrowth(databases, { contacts: many, rounds, seconds: seconds / 2, only }),
    },
  ],
  import: [
    {
      section: 'import',
      extent: `${rounds} rounds of ${whole(rows)} rows`,
      measure: (databases, engine) => measureFiles(databases, engine, { rows, rounds }),
    },
  ],
  peers: [
    {
      section: 'graphile-worker',
      extent: `${rounds} rounds of ${whole(deliveries)} deliveries each`,
      measure: (databases) => measureWorker(databases, { count: deliveries, rounds }),
    },
    {
      section: 'directus',
      extent: `${whole(contacts)} contacts, ${rounds} rounds of ${seconds} s each`,
      measure: (databases) => measureDirectus(databases, { contacts, rounds, seconds, only }),
    },
  ],
}

const names = Object.keys(parts) as (keyof typeof parts)[]
const asked = names.filter((name) => values[name])
const usual = names.filter((name) => !['peers', 'import', 'screens'].includes(name))
if (runs === 'sources')
  console.log('dist/ is not up to date, so Rapport runs from its sources. To build it: npm run build')
else console.log('Rapport runs from the bundle in dist/.')
const chosen = (asked.length ? asked : usual).flatMap((name) =>
  enginesOf(name).flatMap((engine) => parts[name].map((table) => ({ ...table, engine }))),
)
for (const { section, extent, measure, engine } of chosen) {
  const databases = await openDatabases(engine)
  try {
    const lines = await measure(databases, engine)
    console.log(`\n${lines.join('\n')}\n`)
    if (values.write) record(`${section} ${engine}`, `${extent}. Rapport ran from the ${runs}`, lines)
  } finally {
    stopServers()
    await databases.remove()
  }
}

/** The engines on which a part runs: the given one, or its own. */
function enginesOf(name: keyof typeof parts): readonly Engine[] {
  if (name === 'peers') return ['postgres']
  if (values.engine) return [values.engine as Engine]
  return name === 'import' ? engines : ['sqlite']
}
