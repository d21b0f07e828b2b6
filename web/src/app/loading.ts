import { Problem } from '../api/client.ts'
import { partsLoaded } from '../texts/parts.ts'

const reloaded = 'rapport-reloaded-at'
const once_in_ms = 60_000

/**
 * Loads a chunk of the app, with its texts. If it fails although the service answers, the chunk is of a removed version.
 * Then it reloads the page, at most once a minute. If the service does not answer, throws that it is
 * unreachable; the caller waits for the service.
 */
export async function loaded<T>(part: Promise<T>): Promise<T> {
  try {
    const found = await part
    await partsLoaded()
    return found
  } catch {
    if ((await serviceAnswers()) && Date.now() - Number(sessionStorage.getItem(reloaded)) > once_in_ms) {
      sessionStorage.setItem(reloaded, String(Date.now()))
      window.location.reload()
      return new Promise(() => {})
    }
    throw new Problem(0, 'unreachable', '')
  }
}

/** Whether the service answers. */
export async function serviceAnswers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}
