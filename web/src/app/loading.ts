import { Problem } from '../api/client.ts'

const reloaded = 'rapport-reloaded-at'
const once_in_ms = 60_000

/**
 * A part of the program. One that does not come although the service answers is of a version that is gone: the page is loaded
 * anew, once. Where nothing answers, that is the problem, and whoever shows it waits for the service.
 */
export async function loaded<T>(part: Promise<T>): Promise<T> {
  try {
    return await part
  } catch {
    if ((await serviceAnswers()) && Date.now() - Number(sessionStorage.getItem(reloaded)) > once_in_ms) {
      sessionStorage.setItem(reloaded, String(Date.now()))
      window.location.reload()
      return new Promise(() => {})
    }
    throw new Problem(0, 'unreachable', '')
  }
}

/** Whether the service is there to load the page from. */
export async function serviceAnswers(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}
