import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

// Checks what needs no test, in lanes beside each other: the compiler and the linter are the longest, and the others use one core.
// With --build, the bundle is built meanwhile, which a run of all tests needs. Every check runs, also behind one that has failed.

const lanes = [
  ['npm run --silent types:check'],
  [
    'biome check .',
    'node scripts/generate-openapi.ts --check',
    'node scripts/generate-schema.ts --check',
    'node demo/generate.ts --check',
    'node scripts/licences.ts --check',
    'node scripts/prose.ts',
  ],
  process.argv.includes('--build') ? ['npm run --silent build'] : [],
]

const failed: string[] = []

async function run(line: string): Promise<void> {
  const child = spawn(line, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  process.stdout.write(`${out}${err}`)
  if (code !== 0) failed.push(line)
}

async function runLane(lines: string[]): Promise<void> {
  for (const line of lines) await run(line)
}

await Promise.all(lanes.map(runLane))
for (const line of failed) console.error(`Failed: ${line}`)
process.exitCode = failed.length ? 1 : 0
