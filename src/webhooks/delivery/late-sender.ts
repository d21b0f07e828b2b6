import type { Sender, SenderOptions } from './deliver.ts'

/**
 * A sender that loads its HTTP client at the first attempt. So a process without deliveries needs less memory. If the
 * client cannot be loaded, `send` rejects, and the next attempt tries it again.
 */
export function createLateSender(options: SenderOptions): Sender {
  let loaded: Promise<Sender> | null = null
  async function load(): Promise<Sender> {
    const { createSender } = await import('./deliver.ts')
    return createSender(options)
  }
  return {
    async send(request) {
      loaded ??= load()
      const sender = await loaded.catch((error) => {
        loaded = null
        throw error
      })
      return sender.send(request)
    },
    async close(how) {
      const sender = await loaded?.catch(() => null)
      await sender?.close(how)
    },
  }
}
