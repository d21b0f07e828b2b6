import module from 'node:module'
import { join } from 'node:path'
import { mapStackTraces } from './stack-traces.ts'

// The entry of dist/. Import nothing of the program above: an old Node has to read this file to refuse.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(`rapport: Node ${process.versions.node} is too old. Use Node 24.11 or newer.`)
  process.exit(1)
}
// The sources of this code are TypeScript: stack traces name their lines.
mapStackTraces()
// Beside the program. If the folder is read-only, starts are only slower.
module.enableCompileCache(join(import.meta.dirname, '.cache'))
const { runProcess } = await import('../../src/cli/process.ts')
await runProcess(process.argv.slice(2), process.env)
