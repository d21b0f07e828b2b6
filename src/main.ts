import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiled code is kept beside the packages it comes from, so that a second start need not compile again. A folder that
// cannot be written only costs that time. Everything else is imported after this line, to be kept too.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/rapport', import.meta.url)))

const { runCommand } = await import('./cli/run.ts')
process.exitCode = await runCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  ...(process.stderr.isTTY && { status: (text: string) => void process.stderr.write(`\r\x1b[K${text}`) }),
  env: process.env,
})
// Whatever is still open must not keep a finished command alive.
setTimeout(() => process.exit(), 1000).unref()
