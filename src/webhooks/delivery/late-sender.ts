import type { Sender, SenderOptions } from './deliver.ts'

/**
 * A sender that loads its HTTP client at the first attempt, or by `load`. So a process without webhooks needs less
 * memory. If the client cannot be loaded, `send` rejects, and the next attempt tries it again.
 */
export function createLateSender(options: SenderOptions): Sender & { load(): Promise<unknown> } {
  let loaded: Promise<Sender> | null = null
  async function loadOnce(): Promise<Sender> {
    try {
      const { createSender } = await import('./deliver.ts')
      return createSender(options)
    } catch (error) {
      loaded = null
      throw error
    }
  }
  const load = () => {
    loaded ??= loadOnce()
    return loaded
  }
  return {
    load,
    send: async (request) => (await load()).send(request),
    async close(how) {
      const sender = await loaded?.catch(() => null)
      await sender?.close(how)
    },
  }
}
