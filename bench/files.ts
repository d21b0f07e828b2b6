import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { openBareImport } from './bare-import.ts'
import type { Databases, Engine, Filled } from './databases.ts'
import { latencies, median, quantile, type Request } from './load.ts'
import { head, line, whole } from './record.ts'
import { create, get, oneOf, someId } from './requests.ts'
import { words } from './seed.ts'
import { type Server, startRapport } from './servers.ts'

type Extent = { rows: number; rounds: number }
type Round = Record<'rows_per_s' | 'grown_mib' | 'before_ms' | 'during_ms', number>

const wanted_of_loop = { sqlite: 0.6, postgres: 0.5 }
const wanted_exported = { sqlite: 135_000, postgres: 76_000 }
const formats = ['csv', 'ndjson'] as const

/** Measures imports and exports of contacts, with a small load of other requests beside each. */
export async function measureFiles(
  databases: Databases,
  engine: Engine,
  { rows, rounds }: Extent,
): Promise<string[]> {
  const filled = await databases.fill('files', rows)
  const { target } = await databases.copy(filled, 'loop')
  const loop = await openBareImport(engine, filled.target, target)
  const server = await startRapport(filled)
  const imports: Round[] = []
  const of_loop: number[] = []
  const exports = { csv: [] as Round[], ndjson: [] as Round[] }
  for (let round = 0; round < rounds; round++) {
    for (const format of formats)
      exports[format].push(
        await measured(server, filled, rows * (round + 1), () => exportAll(server, filled, format)),
      )
    const imported = await measured(server, filled, rows, () => importRows(server, filled, round, rows))
    imports.push(imported)
    of_loop.push(imported.rows_per_s / (await loop.rate()))
  }
  await loop.end()
  await server.stop()
  return [
    ...head('measurement', 'median'),
    line(['import / a loop of the same rows'], of_loop, { least: wanted_of_loop[engine] }),
    ...linesOf('import', imports, null, 150),
    ...formats.flatMap((format) => linesOf(format, exports[format], wanted_exported[engine], 32)),
  ]
}

function linesOf(
  name: string,
  rounds: readonly Round[],
  rows_per_s: number | null,
  grown_mib: number,
): string[] {
  const of = (key: keyof Round) => rounds.map((round) => round[key])
  const ms = (key: keyof Round) => median(of(key)).toFixed(1)
  const ratios = rounds.map(({ before_ms, during_ms }) => during_ms / before_ms)
  return [
    line(
      [`${name}, rows per second`],
      of('rows_per_s'),
      rows_per_s === null ? null : { least: rows_per_s },
      whole,
    ),
    line([`${name}, memory in MiB`], of('grown_mib'), { most: grown_mib }, whole),
    line([`${name}, p95 of others: ${ms('before_ms')} → ${ms('during_ms')} ms`], ratios, { most: 3 }),
  ]
}

/** Runs work on files beside other requests. The memory is compared with that after the other requests alone. */
async function measured(
  server: Server,
  filled: Filled,
  rows: number,
  work: () => Promise<void>,
): Promise<Round> {
  const p95 = (list: readonly number[]) => quantile(list, 0.95)
  const before = await otherRequests(server, filled, 3)
  const memory_before = memory(server)
  let grown_mib = 0
  let ended_ms = 0
  const from_ms = performance.now()
  const working = work().finally(() => {
    ended_ms = performance.now()
  })
  const during: number[] = []
  while (!ended_ms) {
    during.push(...(await otherRequests(server, filled, 0.5)))
    grown_mib = Math.max(grown_mib, memory(server) - memory_before)
  }
  await working
  const rows_per_s = (rows * 1000) / (ended_ms - from_ms)
  return { rows_per_s, grown_mib, before_ms: p95(before), during_ms: p95(during) }
}

const clients = 4
/** Requests per second of all clients, of which a quarter are creates. */
const rate = 80

/** The latencies of some reads, searches and creates. */
function otherRequests({ port }: Server, { key }: Filled, seconds: number): Promise<number[]> {
  const read = get(key)
  const kinds = [
    () => read(`/${someId(1000)}`),
    () => read(''),
    () => read(`?search=${oneOf(words)}`),
    () => create(key),
  ]
  let n = 0
  return latencies(port, { clients, rate, seconds }, () => (kinds[n++ % kinds.length] as () => Request)())
}

function memory({ pid }: Server): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

async function exportAll({ port }: Server, { key }: Filled, format: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const asked = request({ port, path: `/api/v1/contacts/export?format=${format}`, headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
}

/** A file of contacts in no order of their names, with companies by name. */
function* fileOf(round: number, rows: number): Generator<string> {
  yield 'first_name,last_name,email,phone,company,stage\n'
  for (let from = 0; from < rows; from += 1000) {
    let part = ''
    for (let n = from; n < Math.min(rows, from + 1000); n++) {
      const last_name = `${words[(n * 7919) % words.length]}${(n * 104_729) % 9973}`
      const email = `${last_name}.${round}.${n}@example.com`
      part += `Given${n},${last_name},${email},+34 9${(n * 48_271) % 99_999_989},Firm ${n % 500},lead\n`
    }
    yield part
  }
}

async function importRows({ port }: Server, { key }: Filled, round: number, rows: number): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
  const url = `http://127.0.0.1:${port}/api/v1/imports`
  const body = ReadableStream.from(fileOf(round, rows)).pipeThrough(new TextEncoderStream())
  const options = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const begun = await fetch(`${url}?resource=contacts&on_match=create`, options)
  let { data } = (await begun.json()) as { data: { id: string; status: string; created: number } }
  while (data.status === 'queued' || data.status === 'running') {
    await pause(100)
    ;({ data } = (await (await fetch(`${url}/${data.id}`, { headers })).json()) as { data: typeof data })
  }
  if (data.created !== rows) throw new Error(`The import created ${data.created} of ${rows} contacts.`)
}
