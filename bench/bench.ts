import { type ChildProcess, fork } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { load, type Request } from './load.ts'
import { seed } from './seed.ts'

// Rapport beside the bare server of bare.ts on the same data, in turn, so that a machine that is slow for a while slows
// both. Prints and records ratios; never fails on them.

const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    write: { type: 'boolean', default: false },
  },
})
const contacts = Number(values.contacts)
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const folder = mkdtempSync(join(tmpdir(), 'rapport-bench-'))
const folders = { bare: join(folder, 'bare'), rapport: join(folder, 'rapport') }
for (const path of Object.values(folders)) mkdirSync(path)

console.log(`Filling a database with ${contacts.toLocaleString('en')} contacts …`)
const key = await seed(join(folders.rapport, 'rapport.db'), contacts)
copyFileSync(join(folders.rapport, 'rapport.db'), join(folders.bare, 'rapport.db'))

const started: ChildProcess[] = []
function start(file: string, args: string[], env: Record<string, string> = {}): Promise<number> {
  const child = fork(new URL(file, import.meta.url), args, {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  started.push(child)
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
}

const ports = {
  bare: await start('./bare.ts', [join(folders.bare, 'rapport.db')]),
  rapport: await start('./rapport.ts', [], {
    DATA_DIR: folders.rapport,
    PORT: '0',
    RATE_LIMIT_PER_SECOND: '0',
  }),
}

let n = 0
const headers = { Authorization: `Bearer ${key}` }
const get = (path: string): Request => ({ method: 'GET', path, headers })
// A step through the records that is no small cycle, so that no cache of the last ones helps.
const someId = () => ((n++ * 7919) % contacts) + 1
const words = ['gorhuis', 'kalimo', 'sotivu', 'bediel', 'neolpe', 'corfa', 'hujoti', 'vuanbe']
const create = (): Request => {
  n++
  const body = { first_name: `New${n}`, last_name: `Person${n}`, email: `new${n}@example.com` }
  return { method: 'POST', path: '/api/v1/contacts', headers, body: JSON.stringify(body) }
}
const cases: { name: string; clients: number; expected: number; next: () => Request }[] = [
  { name: 'get', clients: 32, expected: 0.6, next: () => get(`/api/v1/contacts/${someId()}`) },
  { name: 'list (25 rows + total)', clients: 32, expected: 0.6, next: () => get('/api/v1/contacts') },
  {
    name: 'search',
    clients: 32,
    expected: 0.8,
    next: () => get(`/api/v1/contacts?search=${words[n++ % words.length]}`),
  },
  { name: 'create, 1 client', clients: 1, expected: 0.6, next: create },
  { name: 'create, 32 clients', clients: 32, expected: 0.6, next: create },
]

const median = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] as number
const lines = [
  '| request | bare, per second | Rapport, per second | ratio (median) | min – max | expected |',
  '|---|---|---|---|---|---|',
]
for (const { name, clients, expected, next } of cases) {
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
    `≥ ${expected}`,
  ]
  lines.push(`| ${row.join(' | ')} |`)
  console.log(row.join('   '))
}

for (const child of started) {
  child.removeAllListeners('exit')
  child.kill('SIGKILL')
}
rmSync(folder, { recursive: true, force: true })

const table = lines.join('\n')
console.log(`\n${table}`)
if (values.write) {
  const file = new URL('../docs/performance.md', import.meta.url)
  const text = readFileSync(file, 'utf8')
  const machine = `${cpus().length} cores, Node ${process.version}, ${contacts.toLocaleString('en')} contacts, ${rounds} rounds of ${seconds} s each.`
  writeFileSync(
    file,
    text.replace(
      /<!-- ratios -->[\s\S]*<!-- end -->/,
      () => `<!-- ratios -->\n${machine}\n\n${table}\n<!-- end -->`,
    ),
  )
}
