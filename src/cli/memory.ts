import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects the 20 MiB of garbage of the start, and frees the pages of the young generation. An idle process allocates too
 * little for V8 to do it.
 */
export function freeStartMemory(): void {
  setFlagsFromString('--expose-gc')
  // A regular collection keeps the pages: 16 MiB. This one takes 25 ms more.
  runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/**
 * Lets the old generation of V8's heap grow to twice what survives a collection. V8 lets it grow to four times that. For a
 * process under load, it is 50 MiB of garbage.
 */
export function limitOldGeneration(): void {
  setFlagsFromString('--heap-growing-percent=100')
}

const max_young_bytes = 16 * 1024 ** 2

/**
 * Keeps the young generation of V8's heap at 16 MiB. V8 lets it grow to 128 MiB, which a process under load then keeps, though
 * little of it survives a request.
 */
export function limitYoungGeneration(): void {
  let grows = true
  const look = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    // V8 makes it smaller when little is allocated. Then it may grow again.
    const may_grow = young === undefined || young.space_size < max_young_bytes
    if (may_grow === grows) return
    grows = may_grow
    // Unlike the largest size, V8 reads this flag at each collection.
    setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`)
  }
  new PerformanceObserver(look).observe({ entryTypes: ['gc'] })
}
