/**
 * What a commit may bring: deliveries that are due, events, entries of the audit log, deliveries that many small
 * transactions have to move. Each has its own listeners.
 */
export const all_news = ['deliveries', 'events', 'changes', 'backlog'] as const
export type News = (typeof all_news)[number]

/** Who is to be told of what; each of them once, whatever else has come until the event loop's next turn. */
export function createListeners() {
  const listeners = new Map<News, (() => void)[]>(all_news.map((one) => [one, []]))
  const untold = new Set<News>()
  return {
    listen(news: News, listener: () => void): void {
      listeners.get(news)?.push(listener)
    },
    tell(news: readonly News[]): void {
      if (!untold.size && news.length)
        setImmediate(() => {
          const told = [...untold]
          untold.clear()
          for (const one of told) for (const listener of listeners.get(one) ?? []) listener()
        })
      for (const one of news) untold.add(one)
    },
  }
}
