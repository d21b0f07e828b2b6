import { parseArgs } from 'node:util'
import { type Databases, type Engine, engines, openDatabases } from './databases.ts'
import { measureDeliveries, measureOptions } from './deliveries.ts'
import { measureFiles } from './files.ts'
import { measureGrowth } from './growth.ts'
import { measureLatency } from './latency.ts'
import { measureMail } from './mail.ts'
import { measureDirectus, measureWorker } from './peers.ts'
import { measureRatios } from './ratios.ts'
import { isMissed, record, whole } from './record.ts'
import { measureScreens } from './screens.ts'
import { runs, stopServers } from './servers.ts'
import { measureStart } from './start.ts'

// Prints and records measurements beside the wanted figures. It never fails because of a figure.

const options = {
  requests: { type: 'boolean', about: 'Requests beside a bare server' },
  deliveries: { type: 'boolean', about: 'Deliveries beside a bare client, and the time to a receipt' },
  start: { type: 'boolean', about: 'Time of a start, and memory' },
  growth: { type: 'boolean', about: 'Requests at 1,000 and at 1,000,000 contacts' },
  import: { type: 'boolean', about: 'Imports and exports' },
  mail: { type: 'boolean', about: 'Bookings with mails, mails beside nodemailer alone, feeds of calendars' },
  screens: { type: 'boolean', about: 'First screens of the web app, in Chromium' },
  worker: { type: 'boolean', about: 'Deliveries beside graphile-worker, which it installs from npm' },
  peers: { type: 'boolean', about: 'Requests beside Directus, which it installs from npm' },
  engine: { type: 'string', about: 'sqlite or postgres; default: both, where the part has both' },
  rounds: { type: 'string', about: 'Interleaved rounds; default: 5' },
  contacts: { type: 'string', about: 'Contacts of the database; default: 100000, and 1000000 for --growth' },
  rows: { type: 'string', about: 'Rows of an imported file; default: 20000' },
  only: {
    type: 'string',
    default: '',
    about: 'Only the rows of a table that this regular expression matches',
  },
  quick: { type: 'boolean', default: false, about: 'Everything for a moment, to see that it works' },
  write: { type: 'boolean', default: false, about: 'Also write the tables into docs/performance.md' },
  help: { type: 'boolean', default: false, about: 'Show this' },
} as const
const { values } = parseArgs({ options })
// These take about 20 minutes. The others need more time or a browser.
const usual = ['requests', 'deliveries', 'start', 'growth', 'import', 'worker'] as const
if (values.help) {
  console.log('Usage: npm run bench -- [OPTIONS]\n')
  console.log(`Measures the parts that are named; default: ${usual.join(', ')}.\n`)
  for (const [name, { type, about }] of Object.entries(options))
    console.log(`  ${`--${name}${type === 'string' ? ' X' : ''}`.padEnd(14)}${about}`)
  process.exit()
}
if (values.engine && !engines.includes(values.engine as Engine))
  throw new Error(`--engine is ${engines.join(' or ')}.`)
if (values.write && (values.quick || values.only)) throw new Error('--write needs all rounds and rows.')
// A quick run shows that everything works. Its figures mean nothing.
const { quick } = values
const rounds = Number(values.rounds ?? (quick ? 1 : 5))
const seconds = quick ? 0.2 : 1
const contacts = Number(values.contacts ?? (quick ? 2000 : 100_000))
const many = Number(values.contacts ?? (quick ? 10_000 : 1_000_000))
const rows = Number(values.rows ?? (quick ? 1000 : 20_000))
const deliveries = quick ? 1000 : 5000
const mails = quick ? 50 : 500
const requests = quick ? 1000 : 30_000
const only = new RegExp(values.only)

type Table = {
  section: string
  extent: string
  measure(databases: Databases, engine: Engine): Promise<string[]>
}
type Part = (typeof usual)[number] | 'mail' | 'screens' | 'peers'
const parts: Record<Part, Table[]> = {
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
        const wanted = { sqlite: [0.4, 0.48], postgres: [0.4, 0.4] }[engine] as [number, number]
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
  mail: [
    {
      section: 'mail',
      extent: `${rounds} rounds of ${seconds} s, or of ${whole(mails)} mails`,
      measure: (databases, engine) => measureMail(databases, engine, { rounds, seconds, mails }),
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
  worker: [
    {
      section: 'graphile-worker',
      extent: `${rounds} rounds of ${whole(deliveries)} deliveries each`,
      measure: (databases) => measureWorker(databases, { count: deliveries, rounds }),
    },
  ],
  peers: [
    {
      section: 'directus',
      extent: `${whole(contacts)} contacts, ${rounds} rounds of ${seconds} s each`,
      measure: (databases) => measureDirectus(databases, { contacts, rounds, seconds, only }),
    },
  ],
}

const names = Object.keys(parts) as Part[]
const asked = names.filter((name) => values[name])
if (runs === 'sources')
  console.log('dist/ is not up to date, so Rapport runs from its sources. To build it: npm run build')
else console.log('Rapport runs from the bundle in dist/.')
const chosen = (asked.length ? asked : usual).flatMap((name) =>
  enginesOf(name).flatMap((engine) => parts[name].map((table) => ({ ...table, engine }))),
)
const missed: string[] = []
for (const { section, extent, measure, engine } of chosen) {
  const from_ms = performance.now()
  const databases = await openDatabases(engine)
  try {
    const lines = await measure(databases, engine)
    const took_s = Math.round((performance.now() - from_ms) / 1000)
    console.log(`\n${section} on ${engine}, in ${took_s} s:\n\n${lines.join('\n')}\n`)
    if (values.write) record(`${section} ${engine}`, `${extent}, from the ${runs}`, lines)
    missed.push(...lines.filter(isMissed).map((row) => `${section} ${engine} ${row}`))
  } finally {
    stopServers()
    await databases.remove()
  }
}
console.log(`Not as wanted:\n${missed.join('\n') || 'none'}`)

/** The engines on which a part runs: the given one, or its own. */
function enginesOf(name: Part): readonly Engine[] {
  if (name === 'peers' || name === 'worker') return ['postgres']
  if (values.engine) return [values.engine as Engine]
  return name === 'mail' || name === 'screens' ? ['sqlite'] : engines
}
