const same_signal_ms = 500

/**
 * Calls `stop` at the first SIGINT or SIGTERM; a second one ends the process with 1. Ctrl-C arrives twice, from the
 * terminal and from npm, so two close signals count as one. Returns the function that ends this.
 */
export function onStopSignal(stop: () => void): () => void {
  let first_ms: number | undefined
  const onSignal = () => {
    const now_ms = performance.now()
    if (first_ms !== undefined && now_ms - first_ms > same_signal_ms) process.exit(1)
    if (first_ms !== undefined) return
    first_ms = now_ms
    stop()
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  return () => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal)
}
