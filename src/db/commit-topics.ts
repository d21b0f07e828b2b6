/**
 * The topics of a commit: due deliveries, events, entries of the audit log (`changes`), work that is left for later
 * transactions (`backlog`), imports, due mails, and due polls of busy calendars. Each listener waits for one topic.
 */
export const commit_topics = [
  'deliveries',
  'events',
  'changes',
  'backlog',
  'imports',
  'mails',
  'busy',
] as const
export type CommitTopic = (typeof commit_topics)[number]

/** Keeps the listeners of commits. In a turn of the event loop, it calls each listener at most once. */
export function createListeners() {
  const listeners = new Map<CommitTopic, (() => void)[]>(commit_topics.map((topic) => [topic, []]))
  const pending = new Set<CommitTopic>()
  return {
    listen(topic: CommitTopic, listener: () => void): void {
      listeners.get(topic)?.push(listener)
    },
    notifyListeners(topics: readonly CommitTopic[]): void {
      if (!pending.size && topics.length)
        setImmediate(() => {
          const due = [...pending]
          pending.clear()
          for (const topic of due) for (const listener of listeners.get(topic) ?? []) listener()
        })
      for (const topic of topics) pending.add(topic)
    },
  }
}
