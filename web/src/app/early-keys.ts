// As long as a part of the app may take to load.
const kept_ms = 3000
const look_ms = 30
// The commands of a page are registered just after it is drawn.
const registered_ms = 200

let timer: ReturnType<typeof setInterval> | undefined

/** Forgets a key that was kept. */
export const forgetKey = (): void => clearInterval(timer)

/**
 * Keeps a key that was pressed while the page was loading, and calls `run` when the page is there, until `run` returns
 * whether it has found a command. Another key or a click comes first.
 */
export function keepKey(loads: () => boolean, run: () => boolean): void {
  forgetKey()
  const until_ms = performance.now() + kept_ms
  let loaded_at = 0
  timer = setInterval(() => {
    const now = performance.now()
    if (loads()) loaded_at = 0
    else if (run()) return forgetKey()
    else loaded_at ||= now
    if (now > until_ms || (loaded_at && now > loaded_at + registered_ms)) forgetKey()
  }, look_ms)
  window.addEventListener('pointerdown', forgetKey, { once: true, capture: true })
}
