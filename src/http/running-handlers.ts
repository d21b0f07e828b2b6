import type { App } from './server.ts'

type Running = { count: number; onNone: () => void }
const running = new WeakMap<object, Running>()

/** Counts the running handlers of routes that are added to the app after this call. */
export function countHandlers(app: App): void {
  const counted: Running = { count: 0, onNone() {} }
  running.set(app.server, counted)
  const end = () => {
    if (--counted.count === 0) counted.onNone()
  }
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function (request, reply) {
      const answer: unknown = handler.call(this, request, reply)
      if (answer instanceof Promise) {
        counted.count++
        answer.then(end, end)
      }
      return answer as never
    }
  })
}

/**
 * Resolves when no handler of the app runs, or after `limit_ms`. A handler may run for some time after its connection was
 * closed. For example, it removes an upload that was not completed.
 */
export async function awaitHandlers({ server }: App, limit_ms: number): Promise<void> {
  const counted = running.get(server)
  if (!counted?.count) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limit_ms)
    counted.onNone = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}
