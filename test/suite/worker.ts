import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe } from 'node:test'
import { inspect } from 'node:util'
import { root } from '../engines.ts'
import type { Told } from './reporter.ts'

// A process that runs one test file after the other, as its parent names them: most of what a file costs is to load the
// service and to compile it. reporter.ts tells the parent how each one went.

const require = createRequire(import.meta.url)
/** Which file is next, or that there are no more: then what they left running may go on for so long. */
export type Order = { file: string } | { file: null; farewell_ms: number }

process.on('message', (order: Order) => {
  const { file } = order
  if (file === null) return leave(order.farewell_ms)
  // Loaded at once, so that its tests are this suite's, and its hooks too.
  describe(file, () => void require(join(root, file)))
})

// No test waited for these errors, and node:test cannot name theirs (test-hook.ts). So the file fails.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => {
    const told: Told = {
      told: 'fail',
      name: 'an error that no test waited for',
      place: '',
      error: inspect(error),
    }
    if (process.connected) process.send?.(told)
  })

function leave(farewell_ms: number) {
  process.disconnect()
  setTimeout(() => {
    console.error(`The tests are over, but these still run: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, farewell_ms).unref()
}
