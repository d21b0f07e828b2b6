import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Cache compiled code beside the packages, so that the next start does not compile again. If the folder is read-only,
// starts are only slower. Import everything else after this line, so that it is cached too.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/rapport', import.meta.url)))

const { runProcess } = await import('./cli/process.ts')
await runProcess(process.argv.slice(2), process.env)
