import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import '../../scripts/generate-client.ts'
import { describe } from './src/describe.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = join(here, '../..')

/** Writes generated/described.ts: the forms of the nodes, from docs/openapi.json. */
export function generate(): void {
  const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'))
  const events = document.components.schemas.WebhookCreate.properties.events.items.enum
  const folder = join(here, 'generated')
  mkdirSync(folder, { recursive: true })
  // In one step: another process may compile the file at the same time.
  const draft = join(folder, `described.ts.${process.pid}`)
  writeFileSync(
    draft,
    `// Generated from docs/openapi.json by build.ts: do not edit.
import type { Described } from '../src/describe.ts'
export const described: Described = ${JSON.stringify(describe(document))}
export const events: string[] = ${JSON.stringify(events)}
`,
  )
  renameSync(draft, join(folder, 'described.ts'))
}

const parts = ['RapportApi.credentials', 'Rapport.node', 'RapportTrigger.node']

/** Builds the package in a folder: the nodes with all that they import, as n8n loads them. */
export async function buildNodes(folder = here): Promise<string> {
  generate()
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const built = await rolldown({
    cwd: here,
    input: Object.fromEntries(parts.map((name) => [name, join(here, 'src', `${name}.ts`)])),
    platform: 'node',
    logLevel: 'warn',
  })
  await built.write({ dir: dist, format: 'cjs', exports: 'named', keepNames: true })
  await built.close()
  // n8n loads nodes by require.
  writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n')
  cpSync(join(here, 'icons/rapport.svg'), join(dist, 'rapport.svg'))
  if (folder !== here)
    for (const file of ['package.json', 'README.md']) cpSync(join(here, file), join(folder, file))
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return folder
}

if (import.meta.main) {
  if (process.argv.includes('--types')) generate()
  else void buildNodes()
}
