import type { Migration } from '../migrate.ts'

/** Claims that a crash ended are counted, and a delivery may be resent more than 32,767 times. */
export const interruptions: Migration = {
  name: '0011_interruptions',
  kind: 'contract',
  statements: (engine) => {
    const counter = 'ALTER TABLE webhook_queue ADD COLUMN interruptions smallint NOT NULL DEFAULT 0'
    // SQLite's integers have no sizes.
    if (engine === 'sqlite') return [counter]
    return [
      counter,
      // Rewrites the log: a minute for some million attempts.
      'ALTER TABLE webhook_attempts ALTER COLUMN number TYPE integer',
    ]
  },
}
