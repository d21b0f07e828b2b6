import { after, before, type TestContext } from 'node:test'

type Shared = { close(): unknown }

// Closes the fixtures of the current test file. A worker runs one file at a time.
const shared: (() => Promise<void>)[] = []
// `node --test` runs all hooks before the first test at once, but a fixture may use an earlier one.
let starting: Promise<void> = Promise.resolve()

/**
 * Starts a fixture before the first test of a file, and closes it after the last test. Fixtures close in reverse order. Call it at
 * the top of a file. Tests and hooks use the result like the value that `start` resolves to.
 */
export function use<T extends Shared>(start: () => Promise<T>): T {
  let started: T | undefined
  const get = (): T => {
    if (!started)
      throw new Error(
        'It has not started. Use it in tests and hooks only. If a hook of this file uses it, run the file with npm test, not with node --test.',
      )
    return started
  }
  if (!shared.length) after(closeShared)
  shared.push(async () => void (await started?.close()))
  before(() => {
    starting = starting
      .catch(() => {})
      .then(async () => {
        started = await start()
      })
    return starting
  })
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(get(), name),
    set: (_, name, value) => Reflect.set(get(), name, value),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(get(), name),
  })
}

/** A fixture that closes at the end of a test. */
export async function useFor<T extends Shared>(
  t: Pick<TestContext, 'after'>,
  started: Promise<T>,
): Promise<T> {
  const fixture = await started
  t.after(() => fixture.close())
  return fixture
}

async function closeShared(): Promise<void> {
  for (const close of shared.splice(0).reverse()) await close()
}
