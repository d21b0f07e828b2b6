import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Cache compiled code beside the packages, so that the next start does not compile again. If the folder is read-only,
// starts are only slower. Import everything else after this line, so that it is cached too.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/rapport', import.meta.url)))

const { runCommand } = await import('./cli/run.ts')
process.exitCode = await runCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  ...(process.stderr.isTTY && { status: (text: string) => void process.stderr.write(`\r\x1b[K${text}`) }),
  env: process.env,
})
// Exit explicitly: an open handle must not keep a finished command running.
setTimeout(() => process.exit(), 1000).unref()
