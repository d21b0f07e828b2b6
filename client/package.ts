import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildClient } from '../scripts/build-client.ts'

/** The package as npm installs it, in a scratch folder with `node_modules`. */
export async function installClient() {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-client-'))
  const installed = join(folder, 'node_modules/@rapport/client')
  mkdirSync(installed, { recursive: true })
  buildClient(installed)
  const url = pathToFileURL(join(installed, 'dist/index.js')).href
  return {
    folder,
    module: (await import(url)) as typeof import('./src/index.ts'),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}
