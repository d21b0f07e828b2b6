import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type Engine, type Filled, openDatabases } from './databases.ts'
import { type Server, startRapport } from './servers.ts'

const contacts = 200_000

const memory = (pid: number) => {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

/** Reads the export of all contacts; returns its rows a second, and by how many MiB the server grew. */
async function measureExport({ port, pid }: Server, { key }: Filled, format: string) {
  const from_ms = performance.now()
  const before = memory(pid)
  const request = get({
    port,
    path: `/api/v1/contacts/export?format=${format}`,
    headers: { authorization: `Bearer ${key}` },
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let bytes = 0
  let grown = 0
  for await (const part of response) {
    bytes += part.length
    grown = Math.max(grown, memory(pid) - before)
  }
  const seconds = (performance.now() - from_ms) / 1000
  return {
    rows_per_s: Math.round(contacts / seconds),
    mb: Math.round(bytes / 1e6),
    grown_mib: Math.round(grown),
  }
}

const imported = 60_000

/** Imports new contacts with companies; returns rows a second, and by how many MiB the server grew. */
async function measureImport({ port, pid }: Server, { key }: Filled) {
  const rows = Array.from(
    { length: imported },
    (_, n) => `Given${n},Family${n % 977},import.${n}@example.com,+34 910 55 ${n},Firm ${n % 500},lead`,
  )
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
  const url = `http://127.0.0.1:${port}/api/v1/imports`
  const body = `first_name,last_name,email,phone,company,stage\n${rows.join('\n')}\n`
  const before = memory(pid)
  const from_ms = performance.now()
  const begun = await fetch(`${url}?resource=contacts`, { method: 'POST', headers, body })
  let { data } = (await begun.json()) as { data: { id: string; status: string; created: number } }
  let grown = 0
  while (data.status === 'queued' || data.status === 'running') {
    await pause(50)
    grown = Math.max(grown, memory(pid) - before)
    ;({ data } = (await (await fetch(`${url}/${data.id}`, { headers })).json()) as { data: typeof data })
  }
  const seconds = (performance.now() - from_ms) / 1000
  return { created: data.created, rows_per_s: Math.round(imported / seconds), grown_mib: Math.round(grown) }
}

/** Prints how many contacts a second an engine exports and imports. */
export async function benchFiles(engine: Engine): Promise<void> {
  const databases = await openDatabases(engine)
  try {
    const filled = await databases.fill('files', contacts)
    const server = await startRapport(filled)
    for (const format of ['csv', 'ndjson'])
      console.log(engine, 'export', format, await measureExport(server, filled, format))
    console.log(engine, 'import', await measureImport(server, filled))
    await server.stop()
  } finally {
    await databases.remove()
  }
}
