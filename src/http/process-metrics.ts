import type { Database, PoolNumbers } from '../db/db.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import { createHistogram, head, single } from './prometheus.ts'

// Timers have a precision of 1 ms, so that a lower limit would count noise.
const delays = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const sample_ms = 50

/**
 * Measures how late a timer of 50 ms is. The percentiles of perf_hooks are not used: those of several processes cannot
 * be added up, but the buckets of a histogram can.
 */
function watchEventLoop() {
  const delay = createHistogram(delays)
  let expected_ms = performance.now() + sample_ms
  const timer = setInterval(() => {
    const now_ms = performance.now()
    delay.observe(Math.max(0, now_ms - expected_ms) / 1000)
    expected_ms = now_ms + sample_ms
  }, sample_ms).unref()
  return { lines: delay.lines, stop: () => clearInterval(timer) }
}

const poolLines = ({ busy, idle, waiting }: PoolNumbers): string[] => [
  ...head('rapport_pool_connections', 'gauge', 'Connections to PostgreSQL, by state.'),
  `rapport_pool_connections{state="busy"} ${busy}`,
  `rapport_pool_connections{state="idle"} ${idle}`,
  ...single('rapport_pool_waiting', 'gauge', 'Requests and tasks that wait for a connection.', waiting),
]

/** The metrics of this process: its version, memory, event loop and database connections. */
export function createProcessMetrics(
  { engine, pool }: Pick<Database, 'engine' | 'pool'>,
  version: string,
  tracer?: Tracer | null,
) {
  const loop = watchEventLoop()
  const build = `version="${version}",node="${process.versions.node}",engine="${engine}"`
  return {
    lines(): string[] {
      const { rss, heapUsed, external } = process.memoryUsage()
      const connections = pool()
      return [
        ...head('rapport_build_info', 'gauge', 'The processes of this version, Node.js and engine.'),
        `rapport_build_info{${build}} 1`,
        ...head('rapport_event_loop_delay_seconds', 'histogram', 'How late a timer of 50 ms was.'),
        ...loop.lines('rapport_event_loop_delay_seconds', ''),
        ...single('rapport_resident_memory_bytes', 'gauge', 'Memory of the process.', rss),
        ...single('rapport_heap_used_bytes', 'gauge', 'Used part of the JavaScript heap.', heapUsed),
        ...single('rapport_external_memory_bytes', 'gauge', 'Buffers outside of the heap.', external),
        ...(connections ? poolLines(connections) : []),
        ...(tracer
          ? single('rapport_spans_dropped_total', 'counter', 'Spans that were not sent.', tracer.dropped())
          : []),
      ]
    },
    stop: loop.stop,
  }
}
