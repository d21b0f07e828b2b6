import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import './generate-client.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const client = join(root, 'client')

/** Builds the package @rapport/client in client/dist, or its files in another folder. */
export function buildClient(folder = client): string {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', client, '--outDir', dist], { stdio: 'inherit' })
  if (folder !== client)
    for (const file of ['package.json', 'README.md']) cpSync(join(client, file), join(folder, file))
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return folder
}

if (import.meta.main) buildClient()
