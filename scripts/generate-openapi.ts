import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { startServer } from '../src/server.ts'

// Writes docs/openapi.json as the service serves it. With --check, only compares the file.

const target = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

async function servedDocument(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-openapi-'))
  const running = await startServer(readConfig({ PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'error' }))
  try {
    const answer = await fetch(`${running.url}/api/v1/openapi.json`)
    if (!answer.ok) throw new Error('The service has no document. The log above says why.')
    return `${JSON.stringify(await answer.json(), null, 2)}\n`
  } finally {
    await running.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function writtenDocument(): string {
  try {
    return readFileSync(target, 'utf8')
  } catch {
    return ''
  }
}

const document = await servedDocument()
if (!process.argv.includes('--check')) {
  writeFileSync(target, document)
  console.log(`Wrote ${target}`)
} else if (document !== writtenDocument()) {
  const lines = writtenDocument().split('\n')
  const line = document.split('\n').findIndex((text, index) => text !== lines[index])
  console.error(`docs/openapi.json is not what the service gives, from line ${line + 1}: npm run generate`)
  process.exitCode = 1
}
