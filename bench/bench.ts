import { parseArgs } from 'node:util'
import { type Databases, type Engine, engines, openDatabases } from './databases.ts'
import { deliveries, deliveryTable } from './deliveries.ts'
import { measureGrowth } from './growth.ts'
import { measureRatios } from './ratios.ts'
import { head, record } from './record.ts'
import { stopServers } from './servers.ts'

// Prints and records what was measured; never fails on it.

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    growth: { type: 'boolean', default: false },
    deliveries: { type: 'boolean', default: false },
    contacts: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
})
if (!engines.includes(values.engine as Engine)) throw new Error(`--engine is ${engines.join(' or ')}.`)
const engine = values.engine as Engine
const contacts = Number(values.contacts ?? (values.growth ? 1_000_000 : 100_000))
const { rounds, seconds } = { rounds: Number(values.rounds), seconds: Number(values.seconds) }
const extent = { contacts, rounds, seconds, only: new RegExp(values.only) }

const kind = values.growth ? 'growth' : values.deliveries ? 'deliveries' : 'ratios'
const measures: Record<typeof kind, { what: string; run(databases: Databases): Promise<string[]> }> = {
  ratios: {
    what: `${contacts.toLocaleString('en')} contacts, ${rounds} rounds of ${seconds} s each`,
    run: (databases) => measureRatios(databases, engine, extent),
  },
  growth: {
    what: `${rounds} rounds of ${seconds} s each`,
    run: (databases) => measureGrowth(databases, extent),
  },
  deliveries: {
    what: `${rounds} rounds of 20,000 deliveries each`,
    async run(databases) {
      const options = {
        database_url: await databases.empty('deliveries'),
        count: 20_000,
        rounds,
        webhooks: [1, 10],
      }
      return [
        ...head('bare, per second', 'Rapport, per second', 'ratio'),
        ...deliveryTable(engine, await deliveries(options)),
      ]
    },
  },
}

const { what, run } = measures[kind]
const databases = await openDatabases(engine)
let lines: string[]
try {
  lines = await run(databases)
} finally {
  stopServers()
  await databases.remove()
}
console.log(`\n${lines.join('\n')}`)
if (values.write) record(`${kind} ${engine}`, what, lines)
