import { after, before as runBefore, type TestContext } from 'node:test'

type Shared = { close(): unknown }

// Closes the fixtures of the current test file. A worker runs one file at a time.
const shared: (() => Promise<void>)[] = []
// `node --test` runs all hooks before the first test at once, but one may use the fixture of an earlier one.
let starting: Promise<void> = Promise.resolve()

/** Runs work before the first test of a file, after the fixtures above it have started. */
export function before(work: () => unknown): void {
  runBefore(() => {
    starting = starting.catch(() => {}).then(async () => void (await work()))
    return starting
  })
}

/**
 * Starts a fixture before the first test of a file, and closes it after the last test. Fixtures close in reverse order. Call it at
 * the top of a file. Tests and hooks use the result like the value that `start` resolves to.
 */
export function use<T extends Shared>(start: () => Promise<T>): T {
  let started: T | undefined
  const get = (): T => {
    if (!started)
      throw new Error(
        'It has not started. Use it in tests, in after, and in the function before of test/use.ts.',
      )
    return started
  }
  if (!shared.length) after(closeShared)
  shared.push(async () => void (await started?.close()))
  before(async () => {
    started = await start()
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
