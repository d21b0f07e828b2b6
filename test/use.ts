import { after, before } from 'node:test'

type Shared = { close(): unknown }

// What the present file shares. A process of the suite runs one file after the other.
const shared: (() => Promise<void>)[] = []

/**
 * What the tests of a file share. It starts before the first test and closes after the last one; what was used last closes first. Call it
 * at the top of a file. Tests and hooks use it as if it were what `start` resolves to.
 */
export function use<T extends Shared>(start: () => Promise<T>): T {
  let started: T | undefined
  const get = (): T => {
    if (!started) throw new Error('It starts before the first test: use it in tests and hooks only.')
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

async function closeShared(): Promise<void> {
  for (const close of shared.splice(0).reverse()) await close()
}
