import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { startRapport } from '../harness.ts'

// Makes clients of docs/openapi.json with five generators, checks their types, and calls a real server with each, and with two
// adapters of tools for assistants. The packages take 400 MB, so `npm ci` does not install them, and this works in a scratch
// folder: npm run generators

const here = mkdtempSync(join(tmpdir(), 'rapport-generators-'))
cpSync(new URL('.', import.meta.url), here, { recursive: true })
const document = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url))
async function run(program: string, words: string[], env = process.env): Promise<void> {
  const [code] = await once(spawn(program, words, { cwd: here, stdio: 'inherit', env }), 'exit')
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}.`)
}
const bin = (name: string) => join(here, 'node_modules/.bin', name)
const node = (name: string, words: string[], env = process.env) =>
  run(process.execPath, [bin(name), ...words], env)

await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
await node('openapi-ts', ['-i', document, '-o', 'generated/hey', '-c', '@hey-api/client-fetch'])
await node('oazapfts', [document, 'generated/oazapfts.ts'])
await node('orval', ['--input', document, '--output', 'generated/orval.ts', '--client', 'fetch'])
await node('openapi-zod-client', [document, '-o', 'generated/zodios.ts', '--export-schemas'])
await node('kubb', ['generate', '--config', 'kubb.config.ts'], { ...process.env, DOCUMENT: document })
const types = fileURLToPath(new URL('../../node_modules/@types', import.meta.url))
await node('tsc', ['-p', '.', '--typeRoots', types])

// Generated files import each other without endings, which only bundlers read.
const external = /^[^./]/
const built = await rolldown({ cwd: here, input: 'main.ts', platform: 'node', external, logLevel: 'warn' })
await built.write({ file: join(here, 'generated/main.mjs') })
await built.close()

const service = await startRapport()
try {
  await run(process.execPath, ['generated/main.mjs'], { ...process.env, URL: service.url, KEY: service.key })
} finally {
  await service.close()
  rmSync(here, { recursive: true, force: true, maxRetries: 5 })
}
