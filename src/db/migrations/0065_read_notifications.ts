import type { Migration } from '../migrate.ts'

/** Finds old notifications that were read, past those that were not. */
export const readNotifications: Migration = {
  name: '0065_read_notifications',
  kind: 'expand',
  scans: ['notifications'],
  statements: () => [
    `CREATE INDEX notifications_read ON notifications (workspace_id, changed_at)
      WHERE held_by IS NULL AND read_at IS NOT NULL`,
  ],
}
