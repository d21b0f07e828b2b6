import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into the service before anything else: at a SIGUSR2 it collects garbage and writes down what memory is left.
const file = process.env.SOAK_PROBE

if (file) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let readings = 0
  process.on('SIGUSR2', () => {
    collect()
    const { heapUsed } = process.memoryUsage()
    // Whole or not at all: somebody reads it at any moment.
    writeFileSync(`${file}.new`, JSON.stringify({ reading: ++readings, heap: heapUsed }))
    renameSync(`${file}.new`, file)
  })
}
