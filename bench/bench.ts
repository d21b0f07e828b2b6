import { parseArgs } from 'node:util'
import { type Databases, type Engine, engines, openDatabases } from './databases.ts'
import { deliveries, deliveryTable } from './deliveries.ts'
import { measureGrowth } from './growth.ts'
import { measureRatios } from './ratios.ts'
import { head, record } from './record.ts'
import { stopServers } from './servers.ts'

// Prints and records measurements. It never fails because of a result.

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
const options = { contacts, rounds, seconds, only: new RegExp(values.only) }

const kind = values.growth ? 'growth' : values.deliveries ? 'deliveries' : 'ratios'
const measures: Record<typeof kind, { extent: string; run(databases: Databases): Promise<string[]> }> = {
  ratios: {
    extent: `${contacts.toLocaleString('en')} contacts, ${rounds} rounds of ${seconds} s each`,
    run: (databases) => measureRatios(databases, engine, options),
  },
  growth: {
    extent: `${rounds} rounds of ${seconds} s each`,
    run: (databases) => measureGrowth(databases, options),
  },
  deliveries: {
    extent: `${rounds} rounds of 20,000 deliveries each`,
    async run(databases) {
      const database_url = await databases.empty('deliveries')
      const results = await deliveries({ database_url, count: 20_000, rounds, webhooks: [1, 10] })
      return [...head('bare, per second', 'Rapport, per second', 'ratio'), ...deliveryTable(engine, results)]
    },
  },
}

const { extent, run } = measures[kind]
const databases = await openDatabases(engine)
let lines: string[]
try {
  lines = await run(databases)
} finally {
  stopServers()
  await databases.remove()
}
console.log(`\n${lines.join('\n')}`)
if (values.write) record(`${kind} ${engine}`, extent, lines)
